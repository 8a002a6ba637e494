"""Geometry: shapes, rotations, curves, meshes."""

import math
from math import atan2, cos, sin

import numpy as np


def polygon_area(corners):
    x, y = corners[:, 0], corners[:, 1]
    return 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))


def rotation(axis, angle):
    c, s = cos(angle), sin(angle)
    if axis == "x":
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    if axis == "y":
        return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def robot_hand(angles):
    """Where the hand of an arm of three joints is."""
    position, frame = np.zeros(3), np.eye(3)
    for axis, angle in zip("zyx", angles, strict=True):
        frame = frame @ rotation(axis, angle)
        position = position + frame @ np.array([1.0, 0.2, 0.0])
    return position


def distance_to_segment(p, a, b):
    along = np.dot(p - a, b - a) / np.dot(b - a, b - a)
    if along < 0:
        return np.linalg.norm(p - a)
    if along > 1:
        return np.linalg.norm(p - b)
    return np.linalg.norm(p - (a + along * (b - a)))


def bezier(points, t):
    if len(points) == 1:
        return points[0]
    return bezier([p + t * (points[i + 1] - p) for i, p in enumerate(points[:-1])], t)


class Quaternion:
    def __init__(self, w, x, y, z):
        self.w, self.x, self.y, self.z = w, x, y, z

    def __mul__(self, other):
        a, b = self, other
        return Quaternion(
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        )

    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)


def turn_vector(v, angle):
    q = Quaternion(math.cos(angle / 2), 0.0, 0.6 * math.sin(angle / 2), 0.8 * math.sin(angle / 2))
    turned = q * Quaternion(0.0, *v) * q.conjugate()
    return np.array([turned.x, turned.y, turned.z])


def spiral_length(pitch, turns):
    t = np.linspace(0, 1, 20)
    radius = pitch * t
    x, y = radius * np.cos(turns * t), radius * np.sin(turns * t)
    return np.sum(np.hypot(np.diff(x), np.diff(y)))


def circumcentre(a, b, c):
    matrix = 2 * np.array([[b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]])
    rhs = np.array([b @ b - a @ a, c @ c - a @ a])
    centre = np.linalg.solve(matrix, rhs)
    return np.append(centre, np.linalg.norm(centre - a))


def mesh_volume(vertices):
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return np.sum(a * np.cross(b, c)) / 6


def nearest_pair(points):
    differences = points[:, np.newaxis, :] - points[np.newaxis, :, :]
    d2 = (differences**2).sum(axis=-1)
    np.fill_diagonal(d2, np.inf)
    i, j = np.unravel_index(np.argmin(d2), d2.shape)
    return np.sqrt(d2[i, j])


def great_circle(place, other):
    lat1, lon1 = np.radians(place)
    lat2, lon2 = np.radians(other)
    h = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    bearing = atan2(
        sin(lon2 - lon1) * cos(lat2),
        cos(lat1) * sin(lat2) - sin(lat1) * cos(lat2) * cos(lon2 - lon1),
    )
    return np.array([2 * np.arcsin(np.sqrt(h)), bearing])


SQUARE = np.array([[0.0, 0.1], [2.0, -0.2], [2.3, 1.7], [0.2, 1.5]])

PROGRAMS = [
    (polygon_area, (SQUARE,)),
    (robot_hand, (np.array([0.3, -0.5, 1.1]),)),
    (distance_to_segment, (np.array([0.7, 1.3]), np.array([0.0, 0.2]), np.array([2.0, 0.5]))),
    (bezier, (SQUARE, 0.35)),
    (turn_vector, (np.array([1.0, 0.5, -0.3]), 0.9)),
    (spiral_length, (1.5, 6.0)),
    (circumcentre, (SQUARE[0], SQUARE[1], SQUARE[2])),
    (mesh_volume, (np.array([[0, 0, 0.1], [1, 0.2, 0], [0.1, 1, 0], [0.2, 0.1, 1.3]]),)),
    (nearest_pair, (SQUARE,)),
    (great_circle, (np.array([52.5, 13.4]), np.array([40.7, -74.0]))),
]
