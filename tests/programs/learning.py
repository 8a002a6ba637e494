"""Machine learning: networks, kernels, clusters."""

import numpy as np


def mlp(params, x):
    layers = [
        {"w": params[:6].reshape(2, 3), "b": params[6:9], "act": np.tanh},
        {"w": params[9:12].reshape(3, 1), "b": params[12:13], "act": None},
    ]
    h = x
    for layer in layers:
        h = h @ layer["w"] + layer["b"]
        if layer["act"] is not None:
            h = layer["act"](h)
    return np.mean((h[:, 0] - 1.0) ** 2)


def cross_entropy(logits):
    labels = np.array([0, 2, 1, 2])
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -log_p[np.arange(len(labels)), labels].mean()


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def train_logistic(x, rate):
    y = np.array([0, 1, 1, 0])
    w, b = np.zeros(x.shape[1]), 0.0
    for _ in range(6):
        error = sigmoid(x @ w + b) - y
        w -= rate * x.T @ error / len(y)
        b -= rate * np.mean(error)
    return np.append(w, b)


def recurrent(w, u, sequence):
    h = np.zeros(len(w))
    outputs = np.zeros((len(sequence), len(w)))
    for t, x in enumerate(sequence):
        h = np.tanh(w @ h + u * x)
        outputs[t] = h
    return outputs


def attention(q, k, v):
    scores = np.einsum("id,jd->ij", q, k) / np.sqrt(q.shape[-1])
    scores[np.triu_indices(len(q), 1)] = -1e9
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("ij,jd->id", weights, v)


class BatchNorm:
    def __init__(self, gamma, beta, eps=1e-5):
        self.gamma = gamma
        self.beta = beta
        self.eps = eps

    def __call__(self, x):
        mean, var = x.mean(axis=0), x.var(axis=0)
        return self.gamma * (x - mean) / np.sqrt(var + self.eps) + self.beta


def normalised_relu(x, gamma, beta):
    norm = BatchNorm(gamma, beta)
    return np.maximum(norm(x), 0.0)


def adam(weights, rate):
    state = {"m": 0.0, "v": 0.0}
    w = weights
    for t in range(1, 6):
        g = np.sin(w) + 0.2 * w
        state["m"] = 0.9 * state["m"] + 0.1 * g
        state["v"] = 0.99 * state["v"] + 0.01 * g**2
        m_hat, v_hat = state["m"] / (1 - 0.9**t), state["v"] / (1 - 0.99**t)
        w = w - rate * m_hat / (np.sqrt(v_hat) + 1e-8)
    return w


def gaussian_process(y, scale):
    """The log marginal likelihood with a squared exponential kernel."""
    x = np.linspace(0, 1, len(y))
    k = np.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / scale**2) + 0.1 * np.eye(len(y))
    chol = np.linalg.cholesky(k)
    alpha = np.linalg.solve(chol.T, np.linalg.solve(chol, y))
    return -0.5 * y @ alpha - np.log(np.diag(chol)).sum() - 0.5 * len(y) * np.log(2 * np.pi)


def k_means(points):
    centres = points[:2].copy()
    for _ in range(3):
        d = ((points[:, None] - centres) ** 2).sum(-1)
        nearest = np.argmin(d, axis=1)
        for c in range(2):
            centres[c] = points[nearest == c].mean(axis=0)
    return centres


def graph_network(features, weight):
    edges = [(0, 1), (1, 2), (2, 3), (3, 1)]
    messages = np.zeros_like(features)
    degree = np.zeros(len(features))
    for a, b in edges:
        messages[b] += features[a] @ weight
        messages[a] += features[b] @ weight
        degree[a] += 1
        degree[b] += 1
    return np.tanh(messages / degree[:, None])


X = np.array([[0.3, 1.0], [1.2, 0.1], [-0.7, 0.4], [0.9, -1.1]])
W = np.array([[0.5, -0.3], [0.2, 0.8]])

PROGRAMS = [
    (mlp, (np.sin(np.arange(13.0)), X)),
    (cross_entropy, (np.cos(np.arange(12.0)).reshape(4, 3),)),
    (train_logistic, (X, 0.7)),
    (recurrent, (W, np.array([0.4, 1.1]), np.array([0.3, -0.8, 1.0]))),
    (attention, (X, X[::-1] * 0.5, X + 0.1)),
    (normalised_relu, (X, np.array([1.1, 0.9]), np.array([0.2, 0.3]))),
    (adam, (np.array([0.9, -1.3]), 0.05)),
    (gaussian_process, (np.array([0.2, 0.9, 0.4, -0.5]), 0.6)),
    (k_means, (X,)),
    (graph_network, (X, W)),
]
