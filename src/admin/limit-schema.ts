import * as v from 'valibot'
import { named, number, text, time } from './output-schemas.ts'

/** The current state of one limit, in results. */
export const limitState = named(
  'LimitState',
  v.object({
    scope: v.picklist(['key', 'account', 'group', 'gateway', 'run']),
    id: v.exactOptional(text),
    unit: v.picklist(['requests', 'tokens', 'usd', 'parallel']),
    window: v.nullable(v.picklist(['minute', 'hour', 'day', 'week', 'month', 'total'])),
    limit: number,
    used: number,
    reserved: number,
    unsettled: number,
    remaining: number,
    resetsAt: v.nullable(time),
  }),
)
