"""scipy.spatial and scipy.cluster: what is compiled.

distances       cdist, pdist and what is made of them
rotations       Rotation, Slerp, RigidTransform
neighbours      KDTree: neighbours are constant, distances move
hulls           ConvexHull, Delaunay by their simplices
clusters        vq, kmeans, linkage with assignments and merges constant
"""

from importlib import import_module

FAMILIES = ("distances", "rotations", "neighbours", "hulls")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")
