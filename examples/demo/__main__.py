"""Run the demo: `python -m examples.demo`."""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from . import check, logistic, report, train


def main(argv=None):
    """Run all parts, write the report, and return 1 if a part misses its bar."""
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=main.__doc__)
    parser.add_argument("--epochs", type=int, default=60, help="passes over the training images")
    parser.add_argument("--out", type=Path, default=Path("out/report.html"), help="the report")
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")
    options = parser.parse_args(argv)
    started = time.perf_counter()

    digits = train.load()
    run = train.train(digits, n_epochs=options.epochs, quiet=options.quiet)
    times = train.step_times(run.params, digits.x, digits.y)
    gradient_check = check.check(digits.x[:64], digits.y[:64])
    cancer = logistic.load()
    fits = logistic.fit_all(*cancer[:2])
    logistic_accuracy = logistic.accuracy(fits[0].w, *cancer[2:])

    total_seconds = time.perf_counter() - started
    report.write(
        options.out, digits, run, times, fits, logistic_accuracy, gradient_check, total_seconds
    )
    print(f"digits        {run.accuracies[-1]:.2%} of the held-out images ({run.seconds:.1f} s)")
    for fit in fits:
        print(f"logistic      {summary(fit)}")
    print(f"check         {gradient_check.worst:.1e} from central differences, at most")
    print(f"report        {options.out}")

    failures = list(missed_bars(run, fits[0], gradient_check))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return 1 if failures else 0


def summary(fit):
    """Describe one fit in a line."""
    n_iterations = len(fit.gradient_norms) - 1
    return f"{n_iterations:3d} iterations to {fit.gradient_norms[-1]:.1e}: {fit.name}"


def missed_bars(run, newton, gradient_check):
    """Yield a sentence for each part that is not as good as it must be."""
    if run.accuracies[-1] < 0.97:
        yield f"the classifier reads {run.accuracies[-1]:.2%} of the held-out digits, below 97 %."
    if newton.gradient_norms[-1] > 1e-6:
        yield f"Newton's method ended with a gradient norm of {newton.gradient_norms[-1]:.1e}."
    if not gradient_check.worst < 1e-6 or not np.all(np.isfinite(gradient_check.errors)):
        yield f"the gradient differs from finite differences by {gradient_check.worst:.1e}."


if __name__ == "__main__":
    sys.exit(main())
