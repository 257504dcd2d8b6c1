import { type ModelCall, parseModelCall } from '../codec/model-call.ts'
import type { Endpoint } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import type { Exchange } from '../lib/exchange.ts'
import { requireJson, requirePlainUtf8 } from '../lib/http-headers.ts'
import { timedBody } from '../lib/timed-body.ts'
import type { PipelineContext } from './context.ts'
import type { ModelRequest } from './request.ts'
import type { ServedRequest } from './steps.ts'

/** Reads a model request, and finds the rules for its model. Rejects with what the client is to read as an error. */
export async function readRequest(served: ServedRequest, context: PipelineContext): Promise<ModelRequest> {
  const { exchange, endpoint, key, log, pathModel } = served
  const { client } = log
  client.checkTimeout()
  checkMediaType(exchange)
  const bytes = await timedBody(exchange, {
    maxBytes: context.limits.maxBodyBytes,
    time: context.bodyTime,
    scope: client.scope,
  })
  const call = readers[endpoint.reads](bytes, endpoint, pathModel)
  log.asked(call)
  context.retryBudget.earn()
  context.hedgeBudget.earn()
  const { table, settings } = await client.scope.race(readRules(context))
  log.routed(table)
  return {
    exchange,
    call,
    format: formatOf(endpoint.format),
    context: context.underRules(context, settings, table.ruledCombo(call.model)),
    table,
    log,
    client,
    scope: client.scope,
    owner: key?.id ?? '',
  }
}

/** How bodies are read, by the word of their endpoints. Each throws `INVALID_JSON` or `INVALID_REQUEST` on a body that it cannot read. */
const readers: Readonly<
  Record<Endpoint['reads'], (bytes: Uint8Array, endpoint: Endpoint, pathModel?: string) => ModelCall>
> = { json: parseModelCall }

async function readRules({ routes, settings }: PipelineContext) {
  const table = await routes()
  return { table, settings: await settings() }
}

/**
 * Throws `UNSUPPORTED_MEDIA_TYPE` on a body that is compressed or not UTF-8 by its headers, and, with an `Origin` header, on one that is
 * not JSON: a page of another site could send it without a preflight (a "simple request").
 */
function checkMediaType(exchange: Exchange): void {
  requirePlainUtf8(exchange)
  if (exchange.header('origin') !== undefined) requireJson(exchange)
}
