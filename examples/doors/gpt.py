"""A GPT written on lists of scalars.

A transformer is a long expression in `+ * / **`, `exp` and `log`.
Here it is written as one: each weight is a number of its own,
`pb.array(0.1, requires_grad=True)`, a vector is a list of such numbers, and a matrix is a list of
rows.
One `loss.backward()` then fills `.grad` of all of them, through some ten thousand operations.

The model reads the characters of a name and learns to say which comes next, so that it can make up
names afterwards.
It runs by itself, from anywhere:

    python -m examples.doors.gpt
    python -m examples.doors.gpt --names ../shared/data/names.txt --steps 2000

Nothing here is fast, and that is the point: there is no array to hide in.
"""

import argparse
import math
import random
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

import pullback as pb

try:
    from tqdm import tqdm
except ImportError:  # a progress bar is a nicety: the steps are then told line by line
    tqdm = None

NAMES = """
    ada agnes alan albert alice amalie amos anna anton arthur aurel bela bertha boris carla carl
    clara conrad dana daniel david edda edgar edith elena elias ella emil emma erna erwin eva felix
    fiona frida gerda greta hanna hans heidi helena henri hugo ida ilse ina irma iris jana jonas
    judith julia karl katja klara lara laura lea lena leo lina linus lisa lotte luca luisa maja
    manuel mara maria marta max mia mila mina nadia nele nina noah nora olga oskar otto paul paula
    petra pia rosa ruth sara selma simon sofia sonja stella theo tilda tim toni uma ute vera viktor
"""  # for a run without --names

END = "."  # stands before and after each name


class GPT:
    """A transformer of one layer: embedding, attention, a perceptron, and scores at the end.

    The parameters are matrices by name. Each is a list of rows, each row a list of scalars.
    """

    def __init__(self, characters, n_embedding=8, n_heads=2, n_context=12, seed=0):
        self.characters = characters
        self.n_heads, self.n_context = n_heads, n_context
        rng, n, n_characters = random.Random(seed), n_embedding, len(characters)

        def matrix(n_rows, n_columns):
            scale = 1 / math.sqrt(n_columns)
            return [
                [pb.array(rng.gauss(0, scale), requires_grad=True) for _ in range(n_columns)]
                for _ in range(n_rows)
            ]

        self.weights = {
            "token": matrix(n_characters, n),
            "position": matrix(n_context, n),
            "query": matrix(n, n),
            "key": matrix(n, n),
            "value": matrix(n, n),
            "mix": matrix(n, n),
            "up": matrix(2 * n, n),
            "down": matrix(n, 2 * n),
            "scores": matrix(n_characters, n),
        }

    def parameters(self):
        """All scalars of the model in one list."""
        return [p for matrix in self.weights.values() for row in matrix for p in row]

    def scores(self, token, position, keys, values):
        """A score for each character that may follow the token.

        keys and values hold what attention needs of the tokens before; those of this one are
        appended. So a token sees what came before it and nothing that comes after.
        """
        weights = self.weights
        x = add(weights["token"][token], weights["position"][position])

        normal = normalised(x)
        query = linear(weights["query"], normal)
        keys.append(linear(weights["key"], normal))
        values.append(linear(weights["value"], normal))
        x = add(x, linear(weights["mix"], self.attention(query, keys, values)))

        hidden = [relu(h) for h in linear(weights["up"], normalised(x))]
        x = add(x, linear(weights["down"], hidden))
        return linear(weights["scores"], normalised(x))

    def attention(self, query, keys, values):
        """For each head, the values weighed by how well their keys answer the query."""
        out, width = [], len(query) // self.n_heads
        for start in range(0, len(query), width):
            part = slice(start, start + width)
            weights = softmax([dot(query[part], key[part]) / math.sqrt(width) for key in keys])
            columns = zip(*[value[part] for value in values], strict=True)
            out.extend([dot(weights, column) for column in columns])
        return out

    def loss(self, name):
        """The mean cross entropy of each next character; ln(27) = 3.3 for a model that guesses."""
        tokens = [self.characters.index(c) for c in END + name + END][: self.n_context + 1]
        keys, values, losses = [], [], []
        for position, (token, after) in enumerate(pairwise(tokens)):
            probabilities = softmax(self.scores(token, position, keys, values))
            losses.append(-np.log(probabilities[after]))
        return sum(losses) / len(losses)

    @pb.no_grad()
    def sample(self, rng, temperature=0.7):
        """Make up a name. Nothing is recorded, so that a name of any length leaves no graph."""
        token, name, keys, values = self.characters.index(END), "", [], []
        for position in range(self.n_context):
            scores = self.scores(token, position, keys, values)
            probabilities = softmax([score / temperature for score in scores])
            (token,) = rng.choices(range(len(scores)), [p.item() for p in probabilities])
            if self.characters[token] == END:
                break
            name += self.characters[token]
        return name


# Vectors are lists.


def add(x, y):
    return [a + b for a, b in zip(x, y, strict=True)]


def dot(x, y):
    total = x[0] * y[0]
    for a, b in zip(x[1:], y[1:], strict=True):
        total = total + a * b
    return total


def linear(matrix, x):
    return [dot(row, x) for row in matrix]


def normalised(x):
    """x with a mean square of one. The power -1/2 is an operation like any other."""
    scale = (dot(x, x) / len(x) + 1e-5) ** -0.5
    return [a * scale for a in x]


def relu(x):
    """Python's own `if`: where it answers no, the result depends on nothing."""
    return x if x > 0 else 0.0


def softmax(scores):
    """Probabilities. The largest score is taken off as a number, which changes no derivative."""
    largest = max(score.item() for score in scores)
    exps = [np.exp(score - largest) for score in scores]
    total = sum(exps)
    return [e / total for e in exps]


class Adam:
    """Kingma & Ba 2015, algorithm 1, a scalar at a time."""

    def __init__(self, parameters, decay_mean=0.85, decay_square=0.99, epsilon=1e-8):
        self.parameters = parameters
        self.decay_mean, self.decay_square, self.epsilon = decay_mean, decay_square, epsilon
        self.means, self.squares = [0.0] * len(parameters), [0.0] * len(parameters)
        self.n_steps = 0

    def step(self, rate):
        """Move each parameter against its gradient, and forget the gradient."""
        self.n_steps += 1
        mean_scale = 1 - self.decay_mean**self.n_steps
        square_scale = 1 - self.decay_square**self.n_steps
        for i, p in enumerate(self.parameters):
            # None: the loss did not depend on it, as for a character that the name does not have.
            g = 0.0 if p.grad is None else float(p.grad)
            self.means[i] += (1 - self.decay_mean) * (g - self.means[i])
            self.squares[i] += (1 - self.decay_square) * (g * g - self.squares[i])
            mean, square = self.means[i] / mean_scale, self.squares[i] / square_scale
            p.data -= rate * mean / (math.sqrt(square) + self.epsilon)
            p.zero_grad()


def train(model, names, n_steps, rate=0.02, seed=0, quiet=False):
    """One name a step, with a rate that falls to zero; return the losses."""
    names = list(names)
    random.Random(seed).shuffle(names)
    adam, losses = Adam(model.parameters()), []
    steps = tqdm(range(n_steps), desc="GPT", unit="name", disable=quiet) if tqdm else range(n_steps)
    for step in steps:
        loss = model.loss(names[step % len(names)])
        loss.backward()
        adam.step(rate * (1 - step / n_steps))
        losses.append(loss.item())
        recent = f"loss {mean(losses[-50:]):.3f}"
        if tqdm:
            steps.set_postfix_str(recent, refresh=False)
        elif not quiet and step % 50 == 49:
            print(f"step {step + 1} of {n_steps}: {recent}", file=sys.stderr)
    return losses


def mean(xs):
    return sum(xs) / len(xs)


def read(path):
    """The names in a file, one in a line, in small letters."""
    text = path.read_text(encoding="utf-8").lower()
    if not text.split():
        raise ValueError(f"{path} holds no names")
    return text


def main(argv=None):
    """Train a GPT on lists of scalars to make up names."""
    parser = argparse.ArgumentParser(prog="python -m examples.doors.gpt", description=main.__doc__)
    parser.add_argument("--names", type=Path, help="a file with one name in a line")
    parser.add_argument("--steps", type=int, default=1000, help="names to train on, one a step")
    parser.add_argument("--embedding", type=int, default=8, help="numbers in a vector")
    parser.add_argument("--heads", type=int, default=2, help="heads of attention")
    parser.add_argument("--samples", type=int, default=8, help="names to make up")
    parser.add_argument("--seed", type=int, default=0, help="of weights, order and samples")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    options = parser.parse_args(argv)
    if options.embedding % options.heads:
        parser.error("--embedding is to be a multiple of --heads")
    if options.steps < 1:
        parser.error("--steps is to be at least 1")
    try:
        names = (NAMES if options.names is None else read(options.names)).split()
    except (OSError, ValueError) as error:
        parser.error(f"cannot read --names: {error}")

    characters = [END, *sorted(set("".join(names)) - {END})]
    model = GPT(characters, options.embedding, options.heads, seed=options.seed)
    print(f"{len(names)} names, {len(characters)} characters, {len(model.parameters())} scalars")
    losses = train(model, names, options.steps, seed=options.seed, quiet=options.quiet)
    first, last = losses[: len(losses) // 10 + 1], losses[-(len(losses) // 10 + 1) :]
    print(f"guessing       {math.log(len(characters)):.3f}")
    print(f"first losses   {mean(first):.3f}, the mean of {len(first)}")
    print(f"last losses    {mean(last):.3f}, the mean of {len(last)}")
    rng = random.Random(options.seed)
    print("made up       ", " ".join(model.sample(rng) for _ in range(options.samples)))
    return losses


if __name__ == "__main__":
    main()
