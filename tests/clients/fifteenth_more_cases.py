"""The second half of the fifteenth list."""

import numpy as np

from .cases import case

QUAKE = np.sin(0.31 * np.arange(200.0)) * np.exp(-0.02 * np.arange(200.0))
CUBE = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
SIDES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


@case("platypus", np.full(30, 0.3) + 0.01 * np.arange(30))
def problems_of_platypus(x):
    from platypus import ZDT1, ZDT3, Solution

    total = 0.0
    for problem in (ZDT1(), ZDT3()):
        solution = Solution(problem)
        solution.variables[:] = list(x)
        solution.evaluate()
        total = total + solution.objectives[0] + solution.objectives[1]
    return total


@case("inspyred", np.array([0.31, 0.72, 0.55]))
def benchmarks_of_inspyred(x):
    from inspyred import benchmarks

    total = (
        benchmarks.Griewank(3).evaluator([x], {})[0] + benchmarks.Ackley(3).evaluator([x], {})[0]
    )
    objectives = benchmarks.DTLZ2(3, 2).evaluator([list(x)], {})[0]
    return total + objectives[0] + 2 * objectives[1]


@case("jmetal", np.full(30, 0.3) + 0.01 * np.arange(30))
def problems_of_jmetal(x):
    from jmetal.problem import ZDT1, ZDT6

    total = 0.0
    for problem in (ZDT1(), ZDT6()):
        solution = problem.create_solution()
        solution.variables = list(x[: problem.number_of_variables()])
        problem.evaluate(solution)
        total = total + solution.objectives[0] + solution.objectives[1]
    return total


@case("optiland", 24.0)
def focus_of_optiland(radius):
    from optiland.samples.objectives import CookeTriplet

    lens = CookeTriplet()
    lens.updater.set_radius(radius, 1)
    return lens.paraxial.f2() + lens.paraxial.XPD() + lens.paraxial.FNO()


@case("optiland", 22.5)
def rays_of_optiland(radius):
    from optiland.samples.objectives import CookeTriplet

    lens = CookeTriplet()
    lens.updater.set_radius(radius, 1)
    rays = lens.trace(Hx=0.0, Hy=0.7, wavelength=0.55, num_rays=5, distribution="line_y")
    return np.sum(rays.y) + np.sum(rays.M**2) + np.sum(rays.opd) * 1e-2


@case("elli", 110.0)
def film_of_elli(thickness):
    import elli

    wavelengths = np.linspace(400.0, 700.0, 7)
    oxide = elli.Cauchy(1.452, 36.0, 0.0).get_mat()
    silicon = elli.ConstantRefractiveIndex(n=3.9 + 0.02j).get_mat()
    stack = elli.Structure(elli.AIR, [elli.Layer(oxide, thickness)], silicon)
    result = stack.evaluate(wavelengths, 70.0, solver=elli.Solver2x2)
    return np.sum(result.psi) + np.sum(result.R)


@case("elli", 1.6)
def index_of_elli(index):
    import elli

    wavelengths = np.linspace(400.0, 700.0, 5)
    film = elli.ConstantRefractiveIndex(n=index).get_mat()
    stack = elli.Structure(elli.AIR, [elli.Layer(film, 90.0)], elli.AIR)
    result = stack.evaluate(wavelengths, 30.0)
    return np.sum(result.T) + np.sum(result.R_pp**2)


@case("PyMoosh", 130.0)
def mirror_of_pymoosh(thickness):
    import PyMoosh as pm

    stack = pm.Structure([1.0, 2.2, 4.1], [0, 1, 2, 0], [0.0, thickness, 80.0, 0.0], verbose=False)
    r, t, reflected, transmitted = pm.coefficient(stack, 600.0, 0.3, 0)
    return abs(r) + abs(t) ** 2 + reflected + transmitted


@case("PyMoosh", 0.4)
def angle_of_pymoosh(incidence):
    import PyMoosh as pm

    stack = pm.Structure([1.0, 2.2, 4.1], [0, 1, 2, 0], [0.0, 120.0, 80.0, 0.0], verbose=False)
    _, _, reflected, _ = pm.coefficient_S(stack, 600.0, incidence, 1)
    return reflected + pm.absorption(stack, 600.0, incidence, 0)[0].real.sum()


@case("lentil", np.array([50.0, -30.0, 20.0]))
def pupil_of_lentil(coefficients):
    import lentil

    mask = lentil.circle((24, 24), 10)
    opd = lentil.zernike_compose(mask, coefficients * 1e-9)
    pupil = lentil.Pupil(amplitude=mask, opd=opd, pixelscale=1 / 20, focal_length=10)
    wave = lentil.Wavefront(650e-9) * pupil
    image = lentil.propagate_dft(wave, pixelscale=5e-6, shape=(12, 12), oversample=2)
    return np.max(image.intensity) * 1e2


@case("lentil", 5200.0)
def black_body_of_lentil(temperature):
    from lentil.radiometry import planck_exitance, planck_radiance

    wave = np.linspace(400.0, 900.0, 12)
    return (
        np.sum(planck_exitance(wave, temperature)) * 1e-5
        + np.sum(planck_radiance(wave, temperature)) * 1e-5
    )


@case("eqsig", QUAKE)
def spectrum_of_eqsig(motion):
    from eqsig.sdof import pseudo_response_spectra

    periods = np.array([0.2, 0.5, 1.0])
    displacement, velocity, acceleration = pseudo_response_spectra(motion, 0.01, periods, 0.05)
    return np.sum(displacement) * 100 + np.sum(velocity) + np.sum(acceleration)


@case("eqsig", QUAKE)
def intensity_of_eqsig(motion):
    import eqsig

    record = eqsig.AccSignal(motion, 0.01)
    arias = eqsig.im.calc_arias_intensity(record)[-1]
    return arias + eqsig.im.calc_cav(record)[-1] + np.sum(record.velocity**2)


@case("pygmm", 6.4)
def shaking_of_pygmm(magnitude):
    import pygmm

    scenario = pygmm.Scenario(
        mag=magnitude, dist_jb=20.0, v_s30=500.0, mechanism="SS", region="california"
    )
    model = pygmm.BooreStewartSeyhanAtkinson2014(scenario)
    return np.sum(np.log(model.spec_accels)) * 0.1 + model.pga


@case("pygmm", 420.0)
def stiffness_of_pygmm(velocity):
    import pygmm

    scenario = pygmm.Scenario(
        mag=6.7, dist_rup=20.0, dist_x=19.0, dist_jb=18.0, v_s30=velocity, depth_tor=2.0,
        dip=90.0, mechanism="SS", region="california", on_hanging_wall=False,
    )  # fmt: skip
    return np.sum(pygmm.ChiouYoungs2014(scenario).spec_accels)


@case("groundhog", np.array([2.0, 1.5, 0.8]))
def stresses_of_groundhog(x):
    from groundhog.shallowfoundations import stressdistribution as stress

    point = stress.stresses_pointload(1000.0, x[0], x[1], 0.3)
    strip = stress.stresses_stripload(x[0], x[2], 2.0, 100.0)
    return point["delta sigma z [kPa]"] + strip["delta sigma z [kPa]"]


@case("groundhog", 8.0)
def cone_of_groundhog(resistance):
    from groundhog.siteinvestigation.insitutests import pcpt_correlations as pcpt

    density = pcpt.relativedensity_sand_jamiolkowski(resistance, 60.0, 0.5)
    stiffness = pcpt.gmax_sand_rixstokoe(resistance, 60.0)
    return density["Dr dry [-]"] + stiffness["Gmax [kPa]"] * 1e-4


@case("liquepy", np.array([2.0, 4.5, 6.0, 3.2, 5.1, 6.6]))
def trigger_of_liquepy(q_c):
    from liquepy.trigger import boulanger_and_idriss_2014 as bi2014

    depth = np.arange(1.0, 7.0)
    stress = 18.0 * depth
    effective = stress - 9.8 * np.clip(depth - 1.5, 0, None)
    c_n = np.array([bi2014.calc_cn_values(0.5, each) for each in effective])
    q_c1n = bi2014.calc_q_c1n(q_c, c_n)
    clean = bi2014.calc_q_c1ncs(q_c1n, bi2014.calc_delta_q_c1n(q_c1n, 12.0))
    crr = bi2014.calc_crr_m7p5_from_qc1ncs(clean)
    return np.sum(crr * bi2014.calc_k_sigma(effective, clean)) + np.sum(bi2014.calc_msf(6.5, clean))


@case("py_wake", np.array([0.0, 600.0, 1300.0]))
def farm_of_py_wake(x):
    from py_wake.deficit_models.gaussian import BastankhahGaussianDeficit
    from py_wake.examples.data.hornsrev1 import V80, Hornsrev1Site
    from py_wake.wind_farm_models import PropagateDownwind

    farm = PropagateDownwind(Hornsrev1Site(), V80(), BastankhahGaussianDeficit())
    return farm.aep(x, np.array([0.0, 100.0, -60.0]), wd=np.array([265.0, 280.0]), ws=[8.0, 10.0])


@case("py_wake", 0.06)
def wakes_of_py_wake(k):
    from py_wake.deficit_models.noj import NOJDeficit
    from py_wake.examples.data.hornsrev1 import V80, Hornsrev1Site
    from py_wake.wind_farm_models import PropagateDownwind

    farm = PropagateDownwind(Hornsrev1Site(), V80(), NOJDeficit(k=k))
    result = farm([0.0, 600.0], [0.0, 10.0], wd=[270], ws=[9.0])
    return np.sum(result.WS_eff.values)


@case("pcse", 23.0)
def water_of_pcse(warmest):
    import datetime

    from pcse.util import penman_monteith, reference_ET

    day = datetime.date(2012, 6, 20)
    reference = penman_monteith(day, 51.97, 10.0, 12.0, warmest, 18e6, 14.0, 2.4)
    e0, es0, et0 = reference_ET(day, 51.97, 10, 12.0, warmest, 18e6, 14.0, 2.4, 0.2, 0.5, "P")
    return reference + e0 + es0 + et0


@case("pcse", 1.7)
def table_of_pcse(stage):
    from pcse.util import Afgen, ea_from_tdew, limit

    table = Afgen([0.0, 0.1, 0.5, 0.4, 1.3, 0.8, 2.0, 0.3])
    return table(stage) * limit(0.0, 2.0, stage) + ea_from_tdew(stage * 5)


@case("qibo", np.array([0.3, 0.9, 1.4]))
def circuit_of_qibo(angles):
    import qibo
    from qibo import Circuit, gates

    qibo.set_backend("numpy")
    circuit = Circuit(2)
    circuit.add(gates.RX(0, angles[0]))
    circuit.add(gates.CNOT(0, 1))
    circuit.add(gates.RY(1, angles[1]))
    circuit.add(gates.CRZ(0, 1, angles[2]))
    state = circuit().state()
    return np.abs(state[1]) ** 2 + 2 * np.abs(state[2]) ** 2 + state[3].real


@case("filter_functions", np.array([0.7, 1.3, 0.4, 0.9]))
def infidelity_of_pulse(amplitudes):
    import filter_functions as ff

    x, z = np.array([[0, 1], [1, 0]]) / 2, np.array([[1, 0], [0, -1]]) / 2
    pulse = ff.PulseSequence([[x, amplitudes, "X"]], [[z, np.ones(4), "Z"]], np.full(4, 0.5))
    omega = np.linspace(0.1, 5.0, 30)
    return ff.infidelity(pulse, 1e-2 / omega, omega).sum() * 100


@case("filter_functions", 0.5)
def filter_of_pulse(step):
    import filter_functions as ff

    x, z = np.array([[0, 1], [1, 0]]) / 2, np.array([[1, 0], [0, -1]]) / 2
    pulse = ff.PulseSequence(
        [[x, [0.7, 1.3, 0.4], "X"]], [[z, [1.0, 1.0, 1.0], "Z"]], [step, step, 2 * step]
    )
    return np.sum(pulse.get_filter_function(np.linspace(0.1, 5.0, 12)).real)


@case("lapy", CUBE + 0.05 * np.sin(np.arange(24.0)).reshape(8, 3))
def surface_of_lapy(vertices):
    from lapy import TriaMesh

    mesh = TriaMesh(vertices, SIDES)
    return mesh.area() + mesh.volume() + np.sum(mesh.tria_qualities()) + mesh.avg_edge_length()


@case("lapy", CUBE + 0.05 * np.sin(np.arange(24.0)).reshape(8, 3))
def stiffness_of_lapy(vertices):
    from lapy import Solver, TriaMesh

    solver = Solver(TriaMesh(vertices, SIDES), lump=True)
    x = np.cos(np.arange(8.0))
    return x @ (solver.stiffness @ x) + x @ (solver.mass @ x)


@case("bspline", 1.37)
def basis_of_bspline(x):
    from bspline import Bspline
    from bspline.splinelab import augknt

    basis = Bspline(augknt([0.0, 1.0, 2.0, 3.0], 3), 3)
    return np.sum(basis(x) * np.arange(6.0)) + np.sum(basis.d(x) ** 2)


@case("synergy", 1.4)
def drugs_of_synergy(steepness):
    from synergy.single import Hill

    drug = Hill(E0=1.0, Emax=0.1, h=steepness, C=0.8)
    doses = np.array([0.1, 0.5, 1.0, 3.0])
    return np.sum(drug.E(doses) ** 2) + np.sum(drug.E_inv(np.array([0.4, 0.7])))


@case("synergy", np.array([0.1, 0.5, 1.0, 3.0]))
def pair_of_synergy(doses):
    from synergy.combination import Bliss, MuSyC
    from synergy.single import Hill

    first, second = Hill(E0=1.0, Emax=0.1, h=1.4, C=0.8), Hill(E0=1.0, Emax=0.3, h=0.9, C=1.5)
    model = MuSyC(first, second, E0=1.0, E1=0.1, E2=0.3, E3=0.05, h1=1.4, h2=0.9, C1=0.8, C2=1.5,
                  alpha12=1.2, alpha21=0.8, gamma12=1.0, gamma21=1.0)  # fmt: skip
    bliss = Bliss(first, second)
    return np.sum(model.E(doses, doses[::-1])) + np.sum(bliss.E_reference(doses, doses**2))


@case("damask", np.array([0.3, 0.9, 0.4]))
def texture_of_damask(angles):
    from damask import Rotation

    rotation = Rotation.from_Euler_angles(angles)
    other = Rotation.from_axis_angle(np.array([0.0, 0.0, 1.0, 0.4]))
    matrix = (rotation * other).as_matrix()
    return np.sum(matrix * np.arange(9.0).reshape(3, 3)) + rotation.misorientation_angle(other)


@case("damask", np.array([[1.1, 0.1, 0.0], [0.05, 0.95, 0.1], [0.0, 0.02, 1.0]]))
def strain_of_damask(F):
    from damask import mechanics, tensor

    stress = mechanics.stress_second_Piola_Kirchhoff(F @ F.T, F)
    strain = mechanics.strain(F, "V", 0.0)
    return (
        np.sum(strain**2)
        + mechanics.equivalent_stress_Mises(stress)
        + np.trace(tensor.spherical(F))
    )


@case("mechmean", 0.3)
def fibers_of_mechmean(fraction):
    import mechkit
    from mechmean.approximation import MoriTanaka
    from mechmean.hill_polarization import Castaneda

    glass = mechkit.material.Isotropic(E=73.0, nu=0.22)
    resin = mechkit.material.Isotropic(E=3.4, nu=0.385)
    polarization = Castaneda().spheroid(aspect_ratio=10, matrix=resin)
    phases = {
        "inclusion": {
            "material": glass, "volume_fraction": fraction, "hill_polarization": polarization
        },
        "matrix": {"material": resin},
    }  # fmt: skip
    return np.sum(MoriTanaka(phases).calc_C_eff() ** 2) * 1e-2


@case("pytheory", 438.0)
def tones_of_pytheory(reference):
    from pytheory import Tone

    tone = Tone.from_string("C5", system="western")
    just = tone.pitch(reference_pitch=reference, temperament="pythagorean")
    return tone.pitch(reference_pitch=reference) + just


@case("dissonant", np.array([261.0, 329.0, 392.0]))
def chord_of_dissonant(pitches):
    from dissonant import dissonance, harmonic_tone

    frequencies, amplitudes = harmonic_tone(pitches, n_partials=4)
    return dissonance(frequencies, amplitudes, model="sethares1993") + dissonance(
        frequencies, amplitudes, model="vassilakis2001"
    )


@case("earthkit.meteo", np.array([285.0, 291.0, 299.0]))
def air_of_earthkit(t):
    from earthkit.meteo.thermo import array as thermo

    dewpoint = thermo.dewpoint_from_relative_humidity(t, 60.0)
    theta = thermo.ept_from_dewpoint(t, dewpoint, 9e4)
    lifted = thermo.lcl_temperature(t, dewpoint)
    return np.sum(theta) + np.sum(lifted) + np.sum(thermo.saturation_mixing_ratio(t, 9e4))


@case("earthkit.meteo", np.array([285.0, 291.0, 299.0]))
def bulb_of_earthkit(t):
    from earthkit.meteo.thermo import array as thermo
    from earthkit.meteo.wind import array as wind

    bulb = thermo.wet_bulb_temperature_from_dewpoint(t, t - 6.0, np.full(3, 9e4))
    u, v = wind.polar_to_xy(t * 0.02, t)
    return np.sum(bulb) + np.sum(wind.speed(u, v + 1.0))


@case("petbox.dca", np.array([725.0, 0.85, 0.6]))
def decline_of_petbox(x):
    from petbox import dca

    well = dca.MH(x[0], x[1], x[2], 0.08)
    t = np.array([30.0, 300.0, 3000.0])
    return np.sum(well.rate(t)) + np.sum(well.cum(t)) * 1e-3 + np.sum(well.D(t))


@case("petbox.dca", np.array([750.0, 0.8, 1.9, 0.7, 30.0]))
def transient_of_petbox(x):
    from petbox import dca

    well = dca.THM(x[0], x[1], x[2], x[3], x[4])
    return np.sum(well.rate(np.array([10.0, 100.0, 1000.0]))) + well.cum(900.0).sum() * 1e-3


@case("rockphypy", np.array([37.0, 44.0, 0.22]))
def rock_of_rockphypy(x):
    from rockphypy import EM, GM, Fluid

    dry_k, dry_g = GM.softsand(x[0], x[1], x[2], 0.4, 8.6, 20.0, 0.5)
    vp, vs, rho = Fluid.vels(dry_k, dry_g, x[0], 2.65, 2.5, 1.05, x[2])
    upper = EM.HS(0.3, x[0], 21.0, x[1], 7.0, bound="upper")
    return vp * 1e-3 + vs * 1e-3 + rho + sum(upper) * 0.1


@case("rockphypy", np.array([3.1, 3.4, 1.6, 1.9]))
def reflection_of_rockphypy(v):
    from rockphypy import AVO

    out = AVO.Aki_Richards(np.array([5.0, 15.0, 25.0]), v[0], v[1], v[2], v[3], 2.3, 2.4)
    parts = AVO.zoeppritz(v[0], v[2], 2.3, v[1], v[3], 2.4, 12.0)
    return np.sum(out[0]) + np.sum(np.abs(parts))


@case("wellpathpy", np.array([1.0, 5.0, 12.0, 20.0, 31.0]))
def well_of_wellpathpy(inclination):
    import wellpathpy as wp

    path = wp.deviation(
        md=np.array([0.0, 100.0, 230.0, 350.0, 500.0]), inc=inclination, azi=np.full(5, 40.0)
    )
    position = path.minimum_curvature()
    return position.northing[-1] + position.easting[-1] * 2 + np.sum(position.depth) * 0.1
