import type { Reply } from '../lib/exchange.ts'
import { VERSION } from '../lib/version.ts'
import type { GatewayObserver, TargetFact } from '../pipeline/observing.ts'
import type { LimitState } from '../types.ts'
import { contentTypes, expose, preferredFormat } from './exposition.ts'
import { type LabelSet, measures, providerName } from './measures.ts'
import { createMeasuring } from './measuring.ts'
import { Registry } from './registry.ts'

/** How metrics are served. */
export interface PrometheusOptions {
  /** What a scrape sends as `Authorization: Bearer`, 32 characters or more. Without it the option `management` guards the metrics. */
  token?: string
}

/**
 * Serves metrics at `{basePath}/metrics` for Prometheus: text of format 0.0.4, or OpenMetrics 1.0 where the scrape prefers it. Throws a TypeError on a
 * token that is too short.
 */
export function prometheus({ token }: PrometheusOptions = {}): GatewayObserver {
  if (token !== undefined && (typeof token !== 'string' || !/^[\x21-\x7e]{32,}$/.test(token)))
    throw new TypeError('prometheus: token must be at least 32 characters of plain ASCII without blanks.')
  const registry = new Registry()
  registry.series(measures.build, { 'signalbox.version': VERSION }).add(1)
  return {
    ...createMeasuring(registry),
    page: {
      path: '/metrics',
      ...(token !== undefined && { token }),
      async reply(exchange, facts) {
        if (facts.isOneOfMany) return ONE_OF_MANY
        const none = () => [] // the storage may be away
        const [targets, limits] = await Promise.all([facts.targets().catch(none), facts.limits().catch(none)])
        registry.set(measures.targetState, statesOf(targets))
        registry.set(measures.limitUsed, usedOf(limits))
        const format = preferredFormat(exchange.header('accept'))
        const headers = { 'content-type': contentTypes[format], 'cache-control': 'no-store' }
        return { status: 200, headers, body: expose(registry.families(), format) }
      },
    },
  }
}

function* statesOf(targets: readonly TargetFact[]): Generator<[LabelSet, number]> {
  for (const { provider, model, isKnown, connectionId, state } of targets) {
    for (const one of STATES) {
      const labels = {
        'gen_ai.provider.name': providerName(provider),
        'gen_ai.request.model': isKnown ? model : '_OTHER',
        'signalbox.connection': connectionId,
        'signalbox.state': one,
      }
      yield [labels, one === state ? 1 : 0]
    }
  }
}

function* usedOf(limits: readonly LimitState[]): Generator<[LabelSet, number]> {
  for (const { scope, id, unit, window, limit, used, unsettled, reserved } of limits) {
    const labels = {
      'signalbox.scope': scope,
      ...(scope === 'group' && id !== undefined && { 'signalbox.group': id }),
      'signalbox.unit': unit,
      ...(window !== null && { 'signalbox.window': window }),
    }
    const taken = unit === 'parallel' ? reserved : used + unsettled
    yield [labels, limit > 0 ? Math.min(taken / limit, 1) : 1]
  }
}

const STATES = ['ok', 'cooling', 'draining'] as const

const ONE_OF_MANY: Reply = {
  status: 501,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' },
  body: 'A scrape would see one of many short-lived instances. Use otel(api) from signalbox/otel here, or read GET /api/usage.\n',
}
