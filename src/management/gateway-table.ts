import * as v from 'valibot'
import { healthEntry } from '../admin/health-table.ts'
import { anyObject } from '../admin/input.ts'
import { limitState } from '../admin/limit-schema.ts'
import type { OperationEntries } from '../admin/operation-table.ts'
import { flag, named, text, texts, time, whole } from '../admin/output-schemas.ts'
import { keptRequest, usageSummary } from '../features/usage/operations/usage-table.ts'
import type { Management } from './operations.ts'

const overview = named(
  'Overview',
  v.object({
    usage: v.exactOptional(usageSummary),
    failures: v.array(keptRequest),
    health: v.array(healthEntry),
    damaged: whole,
    nearLimits: v.exactOptional(v.array(v.object({ ...limitState.entries, name: v.exactOptional(text) }))),
    counts: v.object({ keys: whole, connections: whole }),
    requireApiKey: flag,
    mirrorError: v.exactOptional(text),
  }),
)

const info = named(
  'GatewayInfo',
  v.object({
    ...{ version: text, runtime: text, basePath: text, now: time, startedAt: time },
    storage: v.object({ atomic: flag, watches: flag }),
    features: v.object({ usage: flag, cloud: flag, dashboard: flag, observers: whole, pages: texts }),
    requireApiKey: flag,
    counts: v.object({ keys: whole, connections: whole, combos: whole }),
    mayWrite: flag,
    inFlight: whole,
  }),
)

const anything = anyObject('must be an object')
const openapi = v.object({
  openapi: text,
  info: v.object({ title: text, version: text, description: text }),
  servers: v.array(v.object({ url: text })),
  tags: v.array(v.object({ name: text, description: text })),
  paths: v.record(text, v.record(text, anything)),
  components: v.record(text, v.record(text, anything)),
})

/** The operations on the gateway itself. */
export const gatewayTable = {
  overview: {
    method: 'GET',
    path: '/api/overview',
    failure: 'fetch the overview',
    output: overview,
    summary: 'Get a summary for operators',
    description:
      'Hourly totals and the totals of the day before, the latest failed requests, recent failures, and the numbers of keys and connections.',
  },
  info: {
    method: 'GET',
    path: '/api/info',
    failure: 'describe the gateway',
    output: info,
    summary: 'Get information about the gateway',
    description:
      'Its version, runtime, and storage, how many records it has, and how many model requests are in flight.',
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    failure: 'describe the API',
    output: openapi,
    summary: 'Get this document',
  },
} satisfies OperationEntries<Pick<Management, 'overview' | 'info' | 'openapi'>>
