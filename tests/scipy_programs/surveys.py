"""Sounds of a second, votes, regions, masked records, and tables in uneven units."""

import numpy as np
from scipy import ndimage, signal, sparse
from scipy.interpolate import LinearNDInterpolator, griddata
from scipy.sparse.linalg import spsolve
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

RATE = 8000
SECOND = np.arange(RATE) / RATE
CHORD = sum(np.sin(2 * np.pi * f * SECOND) / (1 + i) for i, f in enumerate((110, 440, 1760)))
ROWS, COLUMNS = np.indices((6, 7)).astype(float)
FIELD = np.cos(0.7 * ROWS) * np.sin(0.5 * COLUMNS + 0.3) + 0.05 * ROWS * COLUMNS
REGIONS = (3 * ROWS + COLUMNS).astype(int) % 4


def band(frequency, gain):
    """A section of second order that raises a band (the formulas of R. Bristow-Johnson)."""
    w, a = 2 * np.pi * frequency / RATE, 10 ** (gain / 40)
    alpha = np.sin(w) / 2.4
    b = [1 + alpha * a, -2 * np.cos(w), 1 - alpha * a]
    return np.array([*b, 1 + alpha / a, -2 * np.cos(w), 1 - alpha / a]) / (1 + alpha / a)


def equaliser_of_a_second(gains):
    """The spectrum of a chord after an equaliser, against a flat one."""
    sections = np.stack([band(f, g) for f, g in zip((110.0, 440.0, 1760.0), gains, strict=True)])
    heard = signal.sosfilt(sections, CHORD)
    frequencies, power = signal.welch(heard, RATE, nperseg=1024)
    loud = power[np.searchsorted(frequencies, (110, 440, 1760))]
    return np.sum((np.log(loud) - np.mean(np.log(loud))) ** 2)


def retrieved(start):
    """Steps of the Fienup kind: the magnitudes of a spectrum, and a support."""
    wanted = np.abs(np.fft.fft(np.r_[CHORD[:12], np.zeros(12)]))
    x = start
    for _ in range(4):
        spectrum = np.fft.fft(x, 24)
        x = np.real(np.fft.ifft(wanted * spectrum / np.abs(spectrum)))[:12]
    return np.sum((np.abs(np.fft.fft(x, 24)) - wanted) ** 2)


def votes_that_count(weights):
    """How far assemblies vote apart, where some votes count for more."""
    votes = (np.cos(np.arange(24.0) ** 2) > 0).reshape(4, 6)
    apart = cdist(votes, votes, "hamming", w=weights) + cdist(votes, votes, "jaccard", w=weights)
    return np.sum(np.exp(-apart))


def regions(image):
    """Medians, extremes and the spread of regions of a map."""
    index = [0, 1, 2, 3]
    middle = np.asarray(ndimage.median(image, REGIONS, index))
    low = np.asarray(ndimage.minimum(image, REGIONS, index))
    spread = np.asarray(ndimage.standard_deviation(image, REGIONS, index))
    return np.sum((middle - low) * spread)


def along_the_border(image, at):
    """A map that was filtered before, read beyond its border."""
    places = np.stack([at, 6.4 - at])
    return ndimage.map_coordinates(image, places, order=3, mode="nearest", prefilter=False)


def uneven_units(heights, place):
    """A surface over millimetres and kilometres."""
    sites = np.stack([np.cos(np.arange(9.0)), 1e4 * np.sin(np.arange(9.0) ** 1.5)], axis=1)
    scale = np.array([1.0, 1e4])
    look = LinearNDInterpolator(sites, heights, rescale=True)
    return look(place * scale) + griddata(sites, heights, place * scale, rescale=True)


def record_with_gaps(level, drift):
    """The misfit of a line to a record of which some values are missing."""
    record = np.ma.masked_invalid(np.where(np.arange(10) % 4 == 1, np.nan, np.sin(np.arange(10.0))))
    total = 0.0
    for i, value in enumerate(record):
        if value is not np.ma.masked:
            total = total + (level + drift * i - value) ** 2
    kept = np.ma.array(record.compressed())
    return total + np.sum((kept - level) ** 2)


def first_turn(rotvec):
    """The energy of a frame near where it stands."""
    turned = Rotation.from_rotvec(rotvec).apply(np.eye(3))
    return np.sum((turned - np.eye(3)) ** 2) + turned[0, 1]


def heated_plate(conductivity, source):
    """Heat on a plate, a finite volume at a time."""
    n = len(conductivity)
    place = np.arange(n * n).reshape(n, n)
    pairs = [(place[:, :-1], place[:, 1:]), (place[:-1], place[1:])]
    a, b = [np.concatenate([pair[i].ravel() for pair in pairs]) for i in (0, 1)]
    flat = conductivity.ravel()
    flow = 2 / (1 / flat[a] + 1 / flat[b])
    entries = np.concatenate([-flow, -flow, flow, flow, np.ones(n * n)])
    at = np.concatenate([[a, b], [b, a], [a, a], [b, b], [np.arange(n * n)] * 2], axis=1)
    matrix = sparse.coo_array((entries, (at[0], at[1])), shape=(n * n, n * n))
    return np.max(spsolve(matrix.tocsc(), source.ravel()))


PROGRAMS = [
    (equaliser_of_a_second, (np.array([2.0, -1.0, 3.0]),)),
    (retrieved, (CHORD[:12] + 0.1 * np.cos(np.arange(12.0)),)),
    (votes_that_count, (np.array([1.0, 0.5, 2.0, 1.5, 0.7, 1.1]),)),
    (regions, (np.cos(np.arange(42.0) ** 2).reshape(6, 7),)),
    (along_the_border, (FIELD, np.array([-1.3, -0.2, 0.9, 3.3, 5.6, 6.9]))),
    (uneven_units, (np.sin(np.arange(9.0)), np.array([[0.1, 0.2], [-0.3, 0.1]]))),
    (record_with_gaps, (0.2, 0.05)),
    (first_turn, (np.zeros(3),)),
    (heated_plate, (1.0 + 0.3 * np.cos(np.arange(16.0)).reshape(4, 4), np.eye(4))),
]
