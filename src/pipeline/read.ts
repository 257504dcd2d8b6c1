import { gatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import type { Exchange } from '../lib/exchange.ts'
import { timedBody } from '../lib/timed-body.ts'
import { checkMediaType, parseModelCall } from './call.ts'
import { Client } from './client.ts'
import { RequestLog } from './log.ts'
import type { ModelRequest, PipelineContext, RunOptions } from './types.ts'

/** The client and the log of a request that has started. */
export interface StartedRequest {
  client: Client
  log: RequestLog
}

/** Starts the log of a request, and watches for its client to leave. */
export const startRequest = (exchange: Exchange, { context, key }: RunOptions): StartedRequest => ({
  log: new RequestLog(exchange, key, context),
  client: new Client(exchange, context.inFlight, key),
})

/** Reads a model request, and finds the rules for its model. Rejects with what the client is to read as an error. */
export async function readRequest(
  exchange: Exchange,
  endpoint: Endpoint,
  { context, client, log, key, pathModel }: RunOptions & StartedRequest,
): Promise<ModelRequest> {
  const { clock, limits, inFlight } = context
  if (inFlight.size > limits.maxConcurrent) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
  client.startTimeout(exchange, clock)
  checkMediaType(exchange)
  const body = timedBody(exchange, { maxBytes: limits.maxBodyBytes, time: context.bodyTime })
  const call = parseModelCall(await client.unlessGone(body), endpoint, pathModel)
  log.asked(call)
  context.retryBudget.earn()
  context.hedgeBudget.earn()
  const { table, ruled } = await client.unlessGone(resolveRules(context, call.model))
  return { exchange, call, format: formatOf(endpoint.format), context: ruled, table, log, client, owner: key?.id ?? '' }
}

/** The route table, and the context under the rules that it and the settings have for a model name. */
async function resolveRules(context: PipelineContext, model: string) {
  const table = await context.routes()
  return { table, ruled: await context.underRules(context, model, table) }
}
