"""scipy.spatial and scipy.cluster: rules for their compiled functions.

distances       cdist, pdist and functions built on them
rotations       Rotation, Slerp, RigidTransform
neighbours      KDTree: which points are nearest is constant, their distances are differentiable
hulls           ConvexHull, Delaunay, Voronoi by their simplices
clusters        vq, kmeans, linkage, with assignments and merges constant
"""

from importlib import import_module

from scipy import spatial

from ..solving.serving import by_values, one_for_each

FAMILIES = ("distances", "rotations", "neighbours", "hulls")

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

by_values(
    spatial.KDTree, spatial.cKDTree, spatial.ConvexHull, spatial.Delaunay, spatial.Voronoi,
    spatial.HalfspaceIntersection, spatial.transform.RotationSpline,
)  # fmt: skip
one_for_each(spatial.SphericalVoronoi)
