"""Write what the demo found as one page that needs nothing else."""

import inspect
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from . import models
from .charts import chart, image

PAGE = Path(__file__).with_name("page.html")


def write(path, digits, run, times, fits, logistic_accuracy, check, total_seconds):
    """Fill `page.html` with the results and write it to path."""
    value_seconds, gradient_seconds = times
    scores = models.logits(run.params, digits.x_held_out)
    page = Template(PAGE.read_text(encoding="utf-8")).substitute(
        accuracy=f"{run.accuracies[-1]:.1%}",
        n_held_out=len(digits.y_held_out),
        n_train=f"{len(digits.y):,}",
        n_wrong=np.count_nonzero(np.argmax(scores, axis=1) != digits.y_held_out),
        classifier_source=source(models.logits, models.log_softmax, models.classifier_loss),
        loss_chart=loss_chart(run),
        accuracy_chart=accuracy_chart(run),
        hardest_digits=hardest_digits(digits, scores),
        logistic_source=source(models.logistic_loss),
        logistic_accuracy=f"{logistic_accuracy:.1%}",
        newton_iterations=len(fits[0].gradient_norms) - 1,
        newton_norm=scientific(fits[0].gradient_norms[-1]),
        fit_rows="\n".join(map(fit_row, fits)),
        fit_chart=fit_chart(fits),
        check_worst=scientific(check.worst),
        check_best=scientific(np.min(check.errors)),
        check_step=scientific(check.steps[np.argmin(check.errors)]),
        n_params=f"{check.n_params:,}",
        check_chart=check_chart(check),
        n_steps=f"{run.n_steps:,}",
        train_seconds=f"{run.seconds:.1f}",
        value_time=f"{1e3 * value_seconds:.2f}",
        gradient_time=f"{1e3 * gradient_seconds:.2f}",
        ratio=f"{gradient_seconds / value_seconds:.1f}",
        total_seconds=f"{total_seconds:.0f}",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def loss_chart(run):
    """Draw the mean loss of each epoch."""
    epochs = np.arange(1, len(run.losses) + 1)
    return chart("Training loss", {"loss": (epochs, run.losses)}, "epoch", "loss", log="y")


def accuracy_chart(run):
    """Draw the accuracy on held-out images, with the bar that the demo sets itself."""
    series = {"held-out images": (np.arange(1, len(run.losses) + 1), run.accuracies)}
    return chart("Accuracy", series, "epoch", "accuracy", mark=("97 %", 0.97))


def fit_chart(fits):
    """Draw the norm of the gradient on the way to the optimum."""
    series = {fit.name: (np.arange(len(fit.gradient_norms)), fit.gradient_norms) for fit in fits}
    labels = "iteration", "norm of the gradient"
    return chart("Convergence of the logistic regression", series, *labels, log="y", marker="o")


def check_chart(check):
    """Draw the error of finite differences against their step."""
    series = {"finite differences": (check.steps, check.errors)}
    return chart("Gradient check", series, "step", "relative difference", log="xy")


def fit_row(fit):
    """Return one row of the table of optimisers."""
    counts = f"{len(fit.gradient_norms) - 1}", f"{fit.n_values}", f"{fit.n_gradients}"
    figures = f"{fit.n_products}", scientific(fit.gradient_norms[-1]), f"{1e3 * fit.seconds:.1f}"
    cells = "".join(f"<td>{cell}</td>" for cell in (*counts, *figures))
    return f"<tr><th scope='row'>{escape(fit.name)}</th>{cells}</tr>"


def hardest_digits(digits, scores, n_least=12):
    """Show the held-out images that were misread, and then those that were read with most doubt."""
    probabilities = np.exp(models.log_softmax(scores))
    guesses, labels = np.argmax(scores, axis=1), digits.y_held_out
    right, certainty = guesses == labels, probabilities[np.arange(len(labels)), labels]
    n_shown = max(n_least, np.count_nonzero(~right))
    return "\n".join(
        f'<figure class="{"right" if right[i] else "wrong"}">'
        f'<img src="{image(digits.x_held_out[i].reshape(8, 8))}" alt="a handwritten {labels[i]}">'
        f"<figcaption>a <b>{labels[i]}</b>, read as <b>{guesses[i]}</b><br>"
        f"with probability {probabilities[i, guesses[i]]:.0%}</figcaption></figure>"
        for i in np.lexsort((certainty, right))[:n_shown]
    )


def source(*functions):
    """Show the code that was differentiated, as it stands in its file."""
    return escape("\n\n".join(inspect.getsource(f).rstrip() for f in functions))


def scientific(value):
    """Write 3.2e-10 as 3.2 · 10 to the power of -10."""
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} · 10<sup>{int(exponent)}</sup>".replace("-", "−")  # noqa: RUF001  # a minus sign
