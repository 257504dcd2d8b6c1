import { isByteStream, type Reply } from '../lib/exchange.ts'
import { plainUsd } from '../lib/usd.ts'
import type { RequestLog } from '../pipeline/request-log.ts'
import type { RequestStep } from '../pipeline/steps.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { Gate } from './gate.ts'

/**
 * The step around each request to a model endpoint that holds it to the limits of its key, the key's group and the gateway, and to the models
 * and kinds that the key may use. A request without limits and restrictions passes at once, and loads no code of the gate.
 */
export function gateStep({
  settings,
  load,
}: {
  settings(): Promise<StoredSettings>
  load(): Promise<Gate>
}): RequestStep {
  let gate: Gate | undefined
  return async (request, next) => {
    const { key, log } = request
    const { client } = log
    const reading = settings()
    const rules = await (client.isTimed ? client.scope.race(reading) : reading)
    if (!rules.limits && !isHeld(key)) return withCost(await next(), log)
    gate ??= await client.scope.race(load())
    return withCost(await gate.around(request, rules, next), log)
  }
}

/** Is the key restricted in its models or kinds? */
const isHeld = (key: PresentedKey | undefined): boolean =>
  key !== undefined && (isBound(key) || (key.group !== undefined && isBound(key.group)))

const isBound = ({ limits, models, kinds }: Pick<PresentedKey, 'limits' | 'models' | 'kinds'>) =>
  limits !== undefined || models !== undefined || kinds !== undefined

/** The header with the cost of all attempts of a request, in US dollars. Whole answers have it if the cost is known. */
const COST_HEADER = 'x-signalbox-cost'

function withCost(reply: Reply, { steps }: RequestLog): Reply {
  if (reply.status !== 200 || isByteStream(reply.body)) return reply
  let cost: number | undefined
  for (const step of steps) {
    if (!('outcome' in step)) continue
    if (step.usage && step.costUsd === undefined) return reply
    if (step.costUsd !== undefined) cost = (cost ?? 0) + step.costUsd
  }
  if (cost !== undefined) reply.headers[COST_HEADER] = plainUsd(cost)
  return reply
}
