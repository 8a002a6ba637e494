"""The second half of the fourteenth list."""

import numpy as np

from .cases import case

BEATS = 800.0 + 40.0 * np.cos(1.1 * np.arange(24.0)) + 15.0 * np.sin(2.3 * np.arange(24.0))
TONE = np.sin(0.7 * np.arange(50.0)) + 0.4 * np.cos(2.1 * np.arange(50.0))
RHO = np.array([[0.6, 0.1, 0.05], [0.1, 0.3, 0.02], [0.05, 0.02, 0.1]])
SIGMA = np.array([[0.3, -0.1, 0.0], [-0.1, 0.4, 0.1], [0.0, 0.1, 0.3]])


@case("spglm", np.array([1.2, 0.4, 2.3, 1.9, 3.1, 2.2, 0.8, 2.9]))
def linear_model_of_spglm(y):
    from spglm.family import Gaussian
    from spglm.glm import GLM

    x = np.stack([np.cos(np.arange(8.0)), np.arange(8.0) * 0.2], 1)
    fit = GLM(y.reshape(-1, 1), x, family=Gaussian()).fit()
    return np.sum(fit.params**2) + fit.deviance + fit.llf


@case("spglm", np.array([0.3, 0.9, 1.6, 2.2]))
def families_of_spglm(mu):
    from spglm.family import Gamma, Poisson

    y = np.array([1.0, 2.0, 1.0, 3.0])
    return Poisson().deviance(y, mu) + Gamma().deviance(y, mu) + Poisson().loglike(y, mu)


@case("toqito", RHO)
def states_of_toqito(rho):
    from toqito.state_metrics import helstrom_holevo, sub_fidelity, trace_distance

    rho = (rho + rho.T) / 2
    rho = rho / np.trace(rho)
    return trace_distance(rho, SIGMA) + helstrom_holevo(rho, SIGMA) + sub_fidelity(rho, SIGMA)


@case("toqito", RHO)
def entropy_of_toqito(rho):
    import toqito.matrix_ops
    from toqito.state_props import purity, von_neumann_entropy

    if not hasattr(toqito.matrix_ops, "partial_trace"):
        from toqito.channels import partial_trace  # where releases before 1.1.7 have it
    else:
        from toqito.matrix_ops import partial_trace

    rho = (rho + rho.T) / 2
    rho = rho / np.trace(rho)
    both = toqito.matrix_ops.tensor(rho, SIGMA)
    part = partial_trace(both, [1], [3, 3])
    return von_neumann_entropy(rho) + purity(rho) + np.sum(part**2)


@case("pvmismatch", 0.004)
def cell_of_pvmismatch(series):
    from pvmismatch.pvmismatch_lib.pvcell import PVcell

    cell = PVcell(Rs=series, Rsh=10.0)
    power = cell.Pcell[cell.Vcell > 0]
    return cell.calcIcell(0.4) + cell.Voc + np.max(power)


@case("pvmismatch", 298.0)
def cell_in_heat(temperature):
    from pvmismatch.pvmismatch_lib.pvcell import PVcell

    cell = PVcell(Tcell=temperature, Ee=0.8)
    return cell.Isat1 * 1e10 + cell.Vt + cell.Isc + cell.calcVcell(3.0)


@case("neuralfoil", 3.0)
def wing_of_neuralfoil(angle):
    import neuralfoil as nf

    aero = nf.get_aero_from_kulfan_parameters(
        {
            "lower_weights": -0.15 * np.ones(8),
            "upper_weights": np.linspace(0.15, 0.25, 8),
            "leading_edge_weight": 0.1,
            "TE_thickness": 0.002,
        },
        alpha=angle,
        Re=2e6,
        model_size="small",
    )
    return aero["CL"][0] + 10 * aero["CD"][0] + aero["CM"][0]


@case("neuralfoil", np.linspace(0.15, 0.25, 8))
def shape_of_neuralfoil(weights):
    import neuralfoil as nf

    aero = nf.get_aero_from_kulfan_parameters(
        {
            "lower_weights": -0.15 * np.ones(8),
            "upper_weights": weights,
            "leading_edge_weight": 0.1,
            "TE_thickness": 0.002,
        },
        alpha=np.array([2.0, 4.0]),
        Re=2e6,
        model_size="xxsmall",
    )
    return np.sum(aero["CL"]) + aero["upper_bl_theta_5"][0]


@case("ADRpy", 4000.0)
def air_of_adrpy(height):
    from ADRpy.atmospheres import Atmosphere

    air = Atmosphere(offset_deg=10)
    speed = air.eas2tas(90.0, height) + air.vsound_mps(height)
    return air.airpress_pa(height) * 1e-3 + air.airdens_kgpm3(height) + speed


@case("ADRpy", 110.0)
def thrust_of_adrpy(speed):
    from ADRpy import atmospheres as at

    air = at.Atmosphere()
    mach = air.mach(speed, 3000.0)
    fan = at.turbofanthrustfactor(-4.5, 70100.0, mach)
    return (
        np.sum(fan)
        + np.sum(at.tatbysat(mach))
        + np.sum(air.dynamicpressure_pa(speed, 3000.0)) * 1e-4
    )


@case("aerosandbox", 9000.0)
def air_of_aerosandbox(height):
    import aerosandbox as asb

    air = asb.Atmosphere(altitude=height, temperature_deviation=5.0)
    return air.pressure() * 1e-4 + air.density() + air.speed_of_sound() * 0.01 + air.knudsen(1e-6)


@case("aerosandbox", np.array([0.3, 0.11]))
def drag_of_aerosandbox(x):
    from aerosandbox.library import aerodynamics as aero

    wave = aero.Cd_wave_Korn(Cl=x[0], t_over_c=x[1], mach=0.78, sweep=20)
    skin = aero.Cf_flat_plate(Re_L=1e7 * x[0], method="hybrid-cengel")
    return 100 * wave + 100 * skin + aero.oswalds_efficiency(x[0], 9.0, sweep=10.0)


@case("eofs", np.cos(np.outer(np.arange(1.0, 9.0), [0.3, 0.7, 1.1, 1.9])) + np.eye(8, 4))
def variance_of_eofs(field):
    from eofs.standard import Eof

    solver = Eof(field, weights=np.array([0.8, 1.0, 1.0, 0.9]))
    return np.sum(solver.eigenvalues() * np.arange(1.0, 5.0)) + solver.varianceFraction()[0]


@case("eofs", np.cos(np.outer(np.arange(1.0, 9.0), [0.3, 0.7, 1.1, 1.9])) + np.eye(8, 4))
def field_of_eofs(field):
    from eofs.standard import Eof

    solver = Eof(field)
    return np.sum(solver.reconstructedField(2) ** 2) + np.sum(solver.pcs(npcs=1) ** 2)


@case("commpy", 0.35)
def pulse_of_commpy(rolloff):
    from commpy.filters import rcosfilter, rrcosfilter

    _, raised = rcosfilter(21, rolloff, 1.0, 3.2)
    _, root = rrcosfilter(21, rolloff, 1.0, 3.2)
    return np.sum(raised**2) + np.sum(root) + root[4]


@case("commpy", np.array([0.7, -0.4, 1.2, 0.3]))
def received_of_commpy(signal):
    from commpy.modulation import QAMModem

    soft = QAMModem(16).demodulate(signal + 0.3j * signal**2, "soft", noise_var=0.5)
    return np.sum(soft * np.cos(np.arange(len(soft))))


@case("komm", 0.4)
def pulses_of_komm(rolloff):
    import komm

    pulse = komm.RaisedCosinePulse(rolloff=rolloff)
    t = np.linspace(-2.3, 2.1, 9)
    spectrum = np.abs(pulse.spectrum(np.linspace(-0.6, 0.6, 7)))
    return np.sum(pulse.waveform(t) ** 2) + np.sum(spectrum) + pulse.energy()


@case("komm", np.array([0.2, 0.5, 0.3]))
def channel_of_komm(pmf):
    import komm

    channel = komm.DiscreteMemorylessChannel([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6]])
    return channel.mutual_information(pmf / np.sum(pmf)) + channel.capacity()


@case("bilby", np.array([0.4, 1.3]))
def prior_of_bilby(x):
    from bilby.core.prior import Cosine, Gamma, LogNormal, PowerLaw, PriorDict

    priors = PriorDict({
        "a": LogNormal(0.1, 0.8),
        "b": Gamma(2.0, 1.5),
        "c": Cosine(),
    })  # fmt: skip
    power = PowerLaw(alpha=-1.5, minimum=0.1, maximum=5.0)
    sample = {"a": x[0], "b": x[1], "c": x[0] - 0.2}
    return priors.ln_prob(sample) + power.rescale(x[0]) + power.cdf(x[1])


@case("bilby", np.array([1.4, 0.3]))
def likelihood_of_bilby(x):
    from bilby.core.likelihood import GaussianLikelihood

    def model(t, slope, offset):
        return slope * t + offset

    t = np.linspace(0, 3, 8)
    likelihood = GaussianLikelihood(t, 1.3 * t + np.cos(5 * t), model, sigma=0.5)
    likelihood.parameters.update(slope=x[0], offset=x[1])
    return likelihood.log_likelihood()


@case("naima", 2.3)
def particles_of_naima(index):
    import astropy.units as u
    from naima.models import ExponentialCutoffPowerLaw

    particles = ExponentialCutoffPowerLaw(1e3 / u.eV, 1 * u.TeV, index, 13 * u.TeV)
    return np.sum(np.log(particles(np.array([0.3, 2.0, 9.0]) * u.TeV).value))


@case("naima", 1.7)
def broken_law_of_naima(ratio):
    import astropy.units as u
    from naima.models import BrokenPowerLaw, LogParabola

    energies = np.array([0.3, 2.0, 9.0]) * u.TeV
    broken = BrokenPowerLaw(1e3, 1 * u.TeV, 3 * u.TeV, ratio, 2.5)
    curved = LogParabola(1e3, 1 * u.TeV, 2.0, 0.1 * ratio)
    return np.sum(np.log(broken(energies))) + np.sum(np.log(curved(energies)))


@case("gstools", np.array([1.3, 2.4]))
def variogram_of_gstools(x):
    import gstools as gs

    r = np.array([0.2, 1.1, 3.0])
    smooth = gs.Gaussian(dim=2, var=x[0], len_scale=x[1])
    rough = gs.Matern(dim=2, var=x[0], len_scale=x[1], nu=1.5, nugget=0.1)
    return np.sum(smooth.variogram(r)) + np.sum(rough.covariance(r)) + smooth.integral_scale


@case("gstools", np.array([0.47, 0.56, 0.74, 1.47]))
def kriging_of_gstools(values):
    import gstools as gs

    model = gs.Exponential(dim=1, var=0.5, len_scale=2.0)
    krige = gs.krige.Ordinary(model, cond_pos=[[0.3, 1.9, 1.1, 3.3]], cond_val=values)
    field, error = krige([np.linspace(0.1, 3.0, 5)])
    return np.sum(field**2) + error[0]


@case("diffractio", 60.0)
def beam_of_diffractio(waist):
    from diffractio.scalar_sources_X import Scalar_source_X

    beam = Scalar_source_X(x=np.linspace(-200, 200, 64), wavelength=0.6)
    beam.gauss_beam(x0=5.0, w0=waist, z0=0.0, A=1.0)
    return np.sum(beam.intensity()) + beam.average_intensity()


@case("diffractio", 2.1e4)
def spread_of_diffractio(distance):
    from diffractio.scalar_sources_X import Scalar_source_X

    beam = Scalar_source_X(x=np.linspace(-200, 200, 64), wavelength=0.6)
    beam.gauss_beam(x0=0.0, w0=50.0, z0=0.0)
    far = beam.RS(z=distance, new_field=True, verbose=False)
    return np.sum(np.abs(far.u[20:44]) ** 2)


@case("EMpy", 0.13)
def mirror_of_empy(thickness):
    import EMpy

    def layer(name, index, t):
        index = EMpy.materials.RefractiveIndex(n0_const=index)
        return EMpy.utils.Layer(EMpy.materials.IsotropicMaterial(name, n0=index), t)

    stack = EMpy.utils.Multilayer([
        layer("air", 1.0, np.inf),
        layer("high", 2.3, thickness * 1e-6),
        layer("low", 1.4, 0.21e-6),
        layer("glass", 1.5, np.inf),
    ])  # fmt: skip
    waves = np.array([1.1e-6, 1.3e-6])
    solved = EMpy.transfer_matrix.IsotropicTransferMatrix(stack, 0.2).solve(waves)
    return np.sum(solved.Rs) + np.sum(solved.Tp)


@case("EMpy", 1.3)
def index_of_empy(wavelength):
    import EMpy

    glass = EMpy.materials.RefractiveIndex(n0_smcoeffs=[
        1.03961212, 0.231792344, 1.01046945, 6.00069867e-15, 2.00179144e-14, 1.03560653e-10,
    ])  # fmt: skip
    bk7 = EMpy.materials.IsotropicMaterial("BK7", n0=glass)
    length = EMpy.utils.norm(np.array([wavelength, 2.0, 3.0]))
    return np.sum(np.real(bk7.n(wavelength * 1e-6))) * 10 + length


@case("isacalc", 7400.0)
def air_of_isacalc(height):
    from isacalc import Atmosphere

    calculated = Atmosphere().calculate(height)
    return calculated[0] + calculated[1] * 1e-3 + 10 * calculated[2] + calculated[3]


@case("tsfel", TONE)
def features_of_tsfel(signal):
    import tsfel

    spread = tsfel.calc_std(signal) + tsfel.rms(signal) + tsfel.skewness(signal)
    return spread + tsfel.auc(signal, 50) + tsfel.slope(signal) + tsfel.abs_energy(signal)


@case("tsfel", TONE)
def spectrum_of_tsfel(signal):
    import tsfel

    middle = tsfel.spectral_centroid(signal, 50) + tsfel.spectral_spread(signal, 50)
    shape = tsfel.spectral_slope(signal, 50) + tsfel.spectral_kurtosis(signal, 50)
    return middle + shape + tsfel.average_power(signal, 50)


@case("crystals", np.array([3.1, 4.2, 5.3]))
def lattice_of_crystals(sides):
    from crystals import Lattice

    lattice = Lattice.from_parameters(sides[0], sides[1], sides[2], 85.0, 95.0, 100.0)
    return lattice.volume + np.sum(np.asarray(lattice.scattering_vector([1, 0, 2])) ** 2)


@case("crystals", 0.6)
def rotated_crystal(angle):
    from crystals.affine import rotation_matrix, translation_rotation_matrix

    turned = rotation_matrix(angle, axis=(0.3, -0.2, 0.9))
    moved = translation_rotation_matrix(angle, axis=(1, 1, 0), translation=(1, 2, 3))
    return np.sum(turned * np.arange(9.0).reshape(3, 3)) + moved[0, 1]


@case("kingdon", np.array([0.3, -0.5, 0.8]))
def motor_of_kingdon(v):
    from kingdon import Algebra

    alg = Algebra(3)
    a = alg.vector([v[0], v[1], v[2]])
    b = alg.vector([1.0, 2.0, -1.0])
    turned = (a * b) * a * ~(a * b)
    return turned.e1 + 2 * turned.e3 + (a ^ b).e12 + (a | b).e


@case("stockstats", 100.0 + np.cumsum(np.cos(1.7 * np.arange(30.0))))
def indicators_of_stockstats(close):
    import pandas as pd
    from stockstats import wrap

    frame = wrap(pd.DataFrame({"close": close, "high": close + 1.0, "low": close - 1.0,
                               "open": close, "volume": np.full(30, 10.0)}))  # fmt: skip
    return frame["close_10_sma"].iloc[-1] + frame["rsi"].iloc[-1] + frame["macd"].iloc[-1]


@case("pyet", np.array([14.0, 18.0, 16.5]))
def evaporation_of_pyet(temperature):
    import pandas as pd
    import pyet

    days = pd.date_range("2020-06-01", periods=3)
    mean = pd.Series(temperature, index=days)
    rs = pd.Series([18.0, 22.0, 15.0], index=days)
    return np.sum(pyet.makkink(mean, rs, elevation=100.0)) + np.sum(pyet.oudin(mean, lat=0.8))


@case("pyet", 17.0)
def pressure_of_pyet(temperature):
    import pyet

    slope = pyet.calc_vpc(temperature) + pyet.calc_psy(pyet.calc_press(200.0), temperature)
    return slope + pyet.calc_e0(temperature) + pyet.calc_lambda(temperature)


@case("peakutils", np.exp(-0.1 * (np.arange(30.0) - 13.3) ** 2) + 0.02 * np.arange(30.0))
def peaks_of_peakutils(y):
    import peakutils

    places = peakutils.indexes(y, thres=0.5, min_dist=5)
    middle = peakutils.centroid(np.arange(30.0)[8:19], y[8:19])
    return middle + np.sum(y[places] ** 2) + peakutils.scale(y, (0.0, 2.0))[0][4]


@case("peakutils", np.exp(-0.1 * (np.arange(30.0) - 13.3) ** 2) + 0.02 * np.arange(30.0))
def baseline_of_peakutils(y):
    import peakutils

    return np.sum((y - peakutils.baseline(y, deg=2, max_it=12, tol=1e-12)) ** 2)


@case("pygasflow", 2.1)
def shock_of_pygasflow(mach):
    from pygasflow import isentropic, shockwave

    angle = shockwave.beta_from_mach_theta(mach, 12.0)["weak"]
    after = shockwave.mach_downstream(mach) + shockwave.theta_from_mach_beta(mach, 45.0)
    return angle + after + isentropic.prandtl_meyer_angle(mach) + shockwave.pressure_ratio(mach)


@case("pygasflow", 0.4)
def duct_of_pygasflow(ratio):
    from pygasflow import fanno, isentropic

    mach = isentropic.m_from_pressure_ratio(ratio)
    choked = isentropic.m_from_critical_area_ratio(1.0 + ratio, "sub")
    return mach + choked + fanno.critical_friction_parameter(0.5 + ratio)


@case("heartpy", BEATS)
def variability_of_heartpy(rr):
    from heartpy.analysis import calc_ts_measures

    change = np.abs(np.diff(rr))
    _, measures = calc_ts_measures(rr, change, change**2, measures={}, working_data={})
    return measures["bpm"] + measures["sdnn"] + measures["rmssd"] + measures["hr_mad"]


@case("heartpy", TONE)
def filtered_by_heartpy(signal):
    from heartpy.filtering import filter_signal
    from heartpy.preprocessing import scale_data

    low = filter_signal(signal, cutoff=5.0, sample_rate=50.0, order=2, filtertype="lowpass")
    return np.sum(low**2) + np.sum(scale_data(signal, 0, 10)[:7])


@case("pymcr", np.abs(np.outer(np.arange(1.0, 5.0), [0.3, 0.7, 1.1])) + np.eye(4, 3))
def factors_of_pymcr(data):
    from pymcr.constraints import ConstraintNonneg, ConstraintNorm
    from pymcr.metrics import mse
    from pymcr.regressors import OLS

    spectra = np.array([[1.0, 0.2, 0.1], [0.1, 0.9, 1.3]])
    solver = OLS()
    solver.fit(spectra.T, data.T)
    shares = ConstraintNorm().transform(ConstraintNonneg().transform(solver.coef_ + 0.0))
    return mse(shares, spectra, data, shares @ spectra) + np.sum(shares[0])


@case("rampy", np.array([1.2, 0.4, 0.3]))
def peaks_of_rampy(x):
    import rampy as rp

    shift = np.linspace(-1, 2, 20)
    sum_of_peaks = rp.gaussian(shift, x[0], x[1], x[2]) + rp.lorentzian(shift, x[1], 0.9, x[2])
    broad = rp.pseudovoigt(shift, x[0], 0.2, x[2], 0.3) + rp.pearson7(shift, x[0], x[1], x[2], 1.5)
    return np.sum(sum_of_peaks**2) + np.sum(broad) + rp.gaussianarea(x[0], x[2])[0]


@case("rampy", np.exp(-0.1 * (np.arange(40.0) - 19.3) ** 2) + 0.02 * np.arange(40.0))
def smooth_of_rampy(y):
    import rampy as rp

    smooth = rp.whittaker(y, Lambda=10.0)
    flat = rp.als_baseline(y, 1e3, 0.01, 5)
    return np.sum(smooth**2) + np.sum((y - flat) ** 2)
