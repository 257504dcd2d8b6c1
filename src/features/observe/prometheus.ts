import type { Reply } from '../../lib/exchange.ts'
import { VERSION } from '../../lib/version.ts'
import type { LimitState } from '../../types.ts'
import { contentTypes, formatMetrics, selectFormat } from './exposition.ts'
import { getProviderName, type LabelSet, measures } from './measures.ts'
import { createMetricsObserver } from './measuring.ts'
import type { GatewayObserver, TargetFact } from './observer.ts'
import { Registry } from './registry.ts'

/** Options for `prometheus`. */
export interface PrometheusOptions {
  /** The bearer token for scrapes, at least 32 characters. If absent, the `management` option protects the metrics. */
  token?: string
}

/**
 * Serves metrics for Prometheus at `{basePath}/metrics`: text format 0.0.4, or OpenMetrics 1.0 if the scraper prefers it. Throws a TypeError if the
 * token is too short.
 */
export function prometheus({ token }: PrometheusOptions = {}): GatewayObserver {
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]{32,}$/.test(token)))
    throw new TypeError('prometheus: token must be at least 32 ASCII characters without whitespace.')
  const registry = new Registry()
  registry.getSeries(measures.build, { 'signalbox.version': VERSION }).add(1)
  return {
    ...createMetricsObserver(registry),
    page: {
      path: '/metrics',
      ...(token !== undefined && { token }),
      async reply(exchange, facts) {
        if (facts.isOneOfMany) return ONE_OF_MANY_COMMENT
        const returnEmptyList = () => [] // used if the storage is unavailable or if the code that reads it fails to load
        const [targets, limits, ageMs] = await Promise.all([
          facts.targets().catch(returnEmptyList),
          facts.limits().catch(returnEmptyList),
          facts.catalogAgeMs().catch(() => undefined),
        ])
        registry.set(measures.targetState, toStateSeries(targets))
        registry.set(measures.limitUsed, toLimitSeries(limits))
        registry.set(measures.catalogAge, ageMs === undefined ? [] : [[{}, ageMs / 1_000]])
        const format = selectFormat(exchange.header('accept'))
        const headers = { 'content-type': contentTypes[format], 'cache-control': 'no-store' }
        return { status: 200, headers, body: formatMetrics(registry.listFamilies(), format) }
      },
    },
  }
}

function* toStateSeries(targets: readonly TargetFact[]): Generator<[LabelSet, number]> {
  for (const { provider, model, isKnown, connectionId, state } of targets) {
    for (const targetState of TARGET_STATES) {
      const labels = {
        'gen_ai.provider.name': getProviderName(provider),
        'gen_ai.request.model': isKnown ? model : '_OTHER',
        'signalbox.connection': connectionId,
        'signalbox.state': targetState,
      }
      yield [labels, targetState === state ? 1 : 0]
    }
  }
}

function* toLimitSeries(limits: readonly LimitState[]): Generator<[LabelSet, number]> {
  for (const { scope, id, unit, window, limit, used, unsettled, reserved } of limits) {
    const labels = {
      'signalbox.scope': scope,
      ...(scope === 'group' && id !== undefined && { 'signalbox.group': id }),
      'signalbox.unit': unit,
      ...(window !== null && { 'signalbox.window': window }),
    }
    const usedAmount = unit === 'parallel' ? reserved : used + unsettled
    yield [labels, limit > 0 ? Math.min(usedAmount / limit, 1) : 1]
  }
}

const TARGET_STATES = ['ok', 'cooling', 'draining'] as const

const ONE_OF_MANY_COMMENT: Reply = {
  status: 501,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  body: 'A scrape would see one of many short-lived instances. Use otel(api) from signalbox/otel here, or read GET /api/usage.\n',
}
