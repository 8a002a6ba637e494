"""Finance: prices, rates, risk."""

import math

import numpy as np


def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot, strike, rate, sigma, years):
    d1 = (math.log(spot / strike) + (rate + sigma**2 / 2) * years) / (sigma * math.sqrt(years))
    d2 = d1 - sigma * math.sqrt(years)
    return spot * normal_cdf(d1) - strike * math.exp(-rate * years) * normal_cdf(d2)


def binomial_put(spot, sigma):
    """An American put on a tree, exercised early where that pays."""
    n, strike, rate, dt = 6, 100.0, 0.05, 0.1
    up = np.exp(sigma * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / up) / (up - 1 / up)
    prices = spot * up ** np.arange(-n, n + 1, 2)
    values = np.maximum(strike - prices, 0)
    for step in range(n - 1, -1, -1):
        prices = prices[:-1] * up
        values = np.exp(-rate * dt) * (p * values[1:] + (1 - p) * values[:-1])
        values = np.maximum(values, strike - prices)
        assert len(values) == step + 1
    return values[0]


def net_present_value(flows, rate):
    return np.sum(flows / (1 + rate) ** np.arange(len(flows)))


def internal_rate(flows):
    rate = 0.1
    for _ in range(30):
        t = np.arange(len(flows))
        value = np.sum(flows * (1 + rate) ** -t)
        slope = np.sum(-t * flows * (1 + rate) ** (-t - 1))
        change = value / slope
        rate = rate - change
        if abs(change) < 1e-14:
            break
    return rate


def portfolio_risk(weights, returns):
    covariance = np.cov(returns)
    weights = weights / np.sum(weights)
    variance = weights @ covariance @ weights
    contribution = weights * (covariance @ weights) / np.sqrt(variance)
    return contribution


def max_drawdown(returns):
    wealth = np.cumprod(1 + returns)
    peak = np.maximum.accumulate(wealth)
    return np.max((peak - wealth) / peak)


def garch_likelihood(returns, omega, alpha, beta):
    n = len(returns)
    h = np.zeros(n)
    h[0] = np.var(returns)
    for t in range(1, n):
        h[t] = omega + alpha * returns[t - 1] ** 2 + beta * h[t - 1]
    return -0.5 * np.sum(np.log(2 * np.pi * h) + returns**2 / h)


def loan_schedule(principal, rate):
    payment = principal * rate / (1 - (1 + rate) ** -12)
    rows, balance = [], principal
    for month in range(12):
        interest = balance * rate
        balance = balance + interest - payment
        rows.append({"month": month, "interest": interest, "balance": balance})
    return np.array([[row["interest"], row["balance"]] for row in rows[::3]])


class Account:
    def __init__(self, balance):
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        self.balance += amount
        self.history.append(self.balance)

    def grow(self, rate):
        self.balance *= 1 + rate
        self.history.append(self.balance)


def savings(amount, rate):
    account = Account(10.0)
    for year in range(4):
        account.deposit(amount if year % 2 == 0 else 2 * amount)
        account.grow(rate + 0.01 * year)
    return np.array(account.history)


RETURNS = np.array([0.02, -0.05, 0.03, 0.01, -0.04, -0.02, 0.06])
MARKET = np.array([[0.1, 0.4, -0.3, 0.2], [0.3, -0.2, 0.1, 0.5], [-0.4, 0.2, 0.6, 0.1]])

PROGRAMS = [
    (black_scholes, (100.0, 95.0, 0.03, 0.25, 1.5)),
    (binomial_put, (97.0, 0.3)),
    (net_present_value, (np.array([-10.0, 3.0, 4.0, 5.5]), 0.07)),
    (internal_rate, (np.array([-10.0, 3.0, 4.0, 5.5]),)),
    (portfolio_risk, (np.array([0.5, 0.3, 0.4]), MARKET)),
    (max_drawdown, (RETURNS,)),
    (garch_likelihood, (RETURNS * 10, 0.1, 0.2, 0.6)),
    (loan_schedule, (1.5, 0.02)),
    (savings, (2.0, 0.03)),
]
