import { gatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import type { Exchange } from '../lib/exchange.ts'
import { timedBody } from '../lib/timed-body.ts'
import { checkMediaType, parseModelCall } from './call.ts'
import { Client } from './client.ts'
import { RequestLog } from './log.ts'
import { errorOfRequest } from './reply/failure.ts'
import type { ModelRequest, PipelineContext, RunOptions } from './types.ts'

/** Reads a model request, and finds the rules for its model. Logs why that failed, and rejects with what the client is to read as an error. */
export async function readRequest(
  exchange: Exchange,
  endpoint: Endpoint,
  { context, key, pathModel }: RunOptions,
): Promise<ModelRequest> {
  const { clock, limits, inFlight } = context
  const log = new RequestLog(exchange, key, context)
  const client = new Client(exchange, inFlight, key)
  try {
    if (inFlight.size > limits.maxConcurrent) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
    client.startTimeout(exchange, clock)
    checkMediaType(exchange)
    const bytes = await timedBody(exchange, { maxBytes: limits.maxBodyBytes, time: context.bodyTime, client })
    const call = parseModelCall(bytes, endpoint, pathModel)
    log.asked(call)
    context.retryBudget.earn()
    context.hedgeBudget.earn()
    const { table, settings } = await client.unlessGone(readRules(context))
    const ruled = context.underRules(context, settings, table.ruledCombo(call.model))
    return {
      exchange,
      call,
      format: formatOf(endpoint.format),
      context: ruled,
      table,
      log,
      client,
      owner: key?.id ?? '',
    }
  } catch (error) {
    throw errorOfRequest(error, { log, client })
  }
}

async function readRules({ routes, settings }: PipelineContext) {
  const table = await routes()
  return { table, settings: await settings() }
}
