"""Image processing."""

import numpy as np


def blur(image):
    kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
    padded = np.pad(image, 1, mode="edge")
    out = np.zeros(image.shape)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j] = np.sum(padded[i : i + 3, j : j + 3] * kernel)
    return out


def edges(image):
    gx = image[1:-1, 2:] - image[1:-1, :-2]
    gy = image[2:, 1:-1] - image[:-2, 1:-1]
    result = np.zeros_like(image)
    result[1:-1, 1:-1] = np.sqrt(gx**2 + gy**2)
    return result


def bilinear(image, row, column):
    i, j = int(np.floor(row)), int(np.floor(column))
    u, v = row - i, column - j
    top = (1 - v) * image[i, j] + v * image[i, j + 1]
    bottom = (1 - v) * image[i + 1, j] + v * image[i + 1, j + 1]
    return (1 - u) * top + u * bottom


def stretch_contrast(image, gamma):
    low, high = np.percentile(image, [5, 95])
    scaled = np.clip((image - low) / (high - low), 0.01, 1)
    return scaled**gamma


def total_variation(image, eps):
    dx = np.diff(image, axis=0)[:, :-1]
    dy = np.diff(image, axis=1)[:-1, :]
    return np.sqrt(dx**2 + dy**2 + eps).sum()


def composite(front, alpha):
    back = np.full(front.shape, 0.5)
    mask = front > 0.3
    back[mask] = (1 - alpha) * back[mask] + alpha * front[mask]
    back[~mask] *= alpha**2
    return back


def box_sums(image):
    """Sums of all 2 by 2 squares, from the integral image."""
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    table[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    return table[2:, 2:] - table[:-2, 2:] - table[2:, :-2] + table[:-2, :-2]


def template_match(image, template):
    windows = np.lib.stride_tricks.sliding_window_view(image, template.shape)
    t = template - template.mean()
    w = windows - windows.mean(axis=(2, 3), keepdims=True)
    scores = (w * t).sum(axis=(2, 3)) / np.sqrt((w**2).sum(axis=(2, 3)) * (t**2).sum())
    return scores.max()


def grey_pyramid(colours):
    grey = np.tensordot(colours, np.array([0.3, 0.6, 0.1]), axes=1)
    levels = []
    while grey.size > 1:
        levels.append(grey.mean())
        grey = (grey[::2, ::2] + grey[1::2, ::2] + grey[::2, 1::2] + grey[1::2, 1::2]) / 4
    return np.hstack([levels, grey[0, 0]])


def rotated(image, angle):
    """Sampled at turned coordinates; outside is black."""
    n = len(image)
    yy, xx = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    centre = (n - 1) / 2
    y = np.cos(angle) * (yy - centre) - np.sin(angle) * (xx - centre) + centre
    x = np.sin(angle) * (yy - centre) + np.cos(angle) * (xx - centre) + centre
    i, j = np.floor(y).astype(int), np.floor(x).astype(int)
    inside = (i >= 0) & (i < n - 1) & (j >= 0) & (j < n - 1)
    i, j, u, v = i[inside], j[inside], (y - i)[inside], (x - j)[inside]
    out = np.zeros((n, n))
    out[inside] = (1 - u) * ((1 - v) * image[i, j] + v * image[i, j + 1]) + u * (
        (1 - v) * image[i + 1, j] + v * image[i + 1, j + 1]
    )
    return out


IMAGE = 0.5 + 0.45 * np.sin(np.arange(16.0) ** 1.5).reshape(4, 4)

PROGRAMS = [
    (blur, (IMAGE,)),
    (edges, (IMAGE,)),
    (bilinear, (IMAGE, 1.3, 0.6)),
    (stretch_contrast, (IMAGE, 0.7)),
    (total_variation, (IMAGE, 0.01)),
    (composite, (IMAGE, 0.6)),
    (box_sums, (IMAGE,)),
    (template_match, (IMAGE, np.array([[0.2, 0.9], [0.4, 0.3]]))),
    (grey_pyramid, (np.cos(np.arange(48.0)).reshape(4, 4, 3),)),
    (rotated, (IMAGE, 0.4)),
]
