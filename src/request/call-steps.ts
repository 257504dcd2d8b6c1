import { type GatewayError, isGatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { isByteStream, type Reply } from '../lib/exchange.ts'
import { createFetchBody } from '../lib/fetch-call.ts'
import { type JsonObject, parseJsonObject } from '../lib/json.ts'
import type { ClientFormat, Kind } from '../types.ts'
import { changeForm } from './codec/change-form.ts'
import { type ModelCall, parseModelCall, replaceModelName } from './codec/model-call.ts'
import type { ModelRequest } from './model-request.ts'
import type { RequestLog } from './request-log.ts'
import { RouteRequest } from './route-request.ts'
import type { CallChange, SelectiveCallStep, ServedRequest } from './steps.ts'

/** A model call that was read but not sent yet, as seen by the steps around it. */
export class CallRequest extends RouteRequest {
  readonly request: ModelRequest

  constructor(servedRequest: ServedRequest, request: ModelRequest) {
    super(servedRequest)
    this.request = request
  }

  get model(): string {
    return this.request.call.model
  }

  get format(): ClientFormat {
    return this.request.call.endpoint.format
  }

  get kind(): Kind {
    return this.request.call.endpoint.operation.kind
  }

  get stream(): boolean {
    return this.request.call.stream
  }

  get body(): JsonObject {
    return this.request.call.body
  }
}

/**
 * Returns the request with another model or body; whether it streams doesn't change. Throws `INVALID_REQUEST` for a model or body that a client
 * couldn't send either.
 */
export function changeCall(request: ModelRequest, { model, body, text, list: modelList }: CallChange): ModelRequest {
  const { call, table, unruled, settings } = request
  const list = modelList ?? (model === undefined ? request.list : undefined)
  const changedTextCall = text === undefined ? call : changeText(call, text)
  const changedCall = body
    ? changeBody(changedTextCall, body, model ?? call.model)
    : changeModel(changedTextCall, model ?? call.model)
  const context = unruled.withRules(unruled, settings, list ?? table.findRuledCombo(changedCall.model))
  const { list: _, ...otherFields } = request
  return { ...otherFields, ...(list && { list }), call: changedCall, context }
}

/** Returns the call with a different body text, in which only strings have changed. */
function changeText(call: ModelCall, text: string): ModelCall {
  const { endpoint, model, stream, form } = call
  if (form) return changeBody(call, parseJsonObject(text), model)
  const isModelOutsideBody = call.modelSpans.length === 0
  return { ...parseModelCall(encodeUtf8(text), endpoint, isModelOutsideBody ? { model } : {}), stream }
}

/** Returns the call for another model. Its body stays the same except for the model name. */
function changeModel(call: ModelCall, model: string): ModelCall {
  if (model === call.model) return call
  if (call.form) return { ...call, model }
  const isModelOutsideBody = call.modelSpans.length === 0
  const parsed = parseModelCall(
    encodeUtf8(replaceModelName(model, call)),
    call.endpoint,
    isModelOutsideBody ? { model } : {},
  )
  return { ...parsed, stream: call.stream }
}

function changeBody(call: ModelCall, body: JsonObject, model: string): ModelCall {
  const { endpoint, stream, form } = call
  const streamField = endpoint.streamTrigger?.field ?? 'stream'
  const { [streamField]: _, ...otherFields } = body
  const newBody = streamField in call.body ? { ...otherFields, [streamField]: call.body[streamField] } : otherFields
  if (form)
    return { ...call, model, body: newBody, text: JSON.stringify(newBody), form: changeForm(form, call.body, newBody) }
  const isModelOutsideBody = call.modelSpans.length === 0
  const text = JSON.stringify(isModelOutsideBody ? newBody : { ...newBody, model })
  return { ...parseModelCall(encodeUtf8(text), endpoint, isModelOutsideBody ? { model } : {}), stream }
}

interface StepDependencies {
  servedRequest: ServedRequest
  request: ModelRequest
  respond(request: ModelRequest): Promise<Reply>
}

/** Runs a model request within the steps around its call, outermost first. Rejects as soon as the client stops waiting. */
export function serveWithSteps(
  steps: readonly SelectiveCallStep[],
  { servedRequest, request, respond }: StepDependencies,
): Promise<Reply> {
  const { log } = request
  let repliedTo: ModelRequest | undefined // the request as seen by the innermost step that replied
  let denial: GatewayError | undefined // why the caller may use none of the targets

  async function runStepsFrom(index: number, current: ModelRequest): Promise<Reply> {
    const step = steps[index]
    if (!step) return respond(current).catch(rememberDenial)
    const reply = await step.run(new CallRequest(servedRequest, current), (change) =>
      runStepsFrom(index + 1, change ? changeCall(current, change) : current),
    )
    repliedTo ??= current
    return reply
  }

  function rememberDenial(error: unknown): never {
    if (isGatewayError(error, 'MODEL_NOT_ALLOWED')) denial = error
    throw error
  }

  async function serve(): Promise<Reply> {
    for (const prepare of log.beforeCallSteps) await prepare()
    const reply = await runStepsFrom(0, request)
    if (log.attempts.length > 0 || log.servedBy === 'guard') return reply
    const error = denial ?? findNameViolation(repliedTo ?? request)
    if (!error) return reply
    if (isByteStream(reply.body)) reply.body.cancel(error)
    log.servedBy = 'gateway'
    throw error
  }

  return awaitReply(log, serve())
}

/** Returns the error if the caller may not use the requested model. Names that only a step or the `route` function knows have no rules. */
function findNameViolation({ call, table, list, log }: ModelRequest): GatewayError | undefined {
  if (list || !table.resolveModel(call.model)) return undefined
  return log.nameRules.map((rule) => rule(call.model, table)).find((violation) => violation !== undefined)
}

/** Resolves to a step's or route's reply. Rejects if the client stops waiting; a stream that arrives later is canceled. */
export function awaitReply(
  { client: { scope } }: RequestLog,
  work: Reply | Response | Promise<Reply | Response>,
): Promise<Reply> {
  const replyPromise = Promise.resolve(work).then(toReply)
  replyPromise.then(
    ({ body }) => {
      if (scope.hasEnded && isByteStream(body)) body.cancel(scope.reason)
    },
    () => {}, // callers that await it get the rejection
  )
  return scope.race(replyPromise)
}

/** Converts a response to a reply with its own headers. Reads a Fetch response's JSON completely; streams anything else. */
export async function toReply(response: Reply | Response): Promise<Reply> {
  if (!('arrayBuffer' in response)) return { ...response, headers: { ...response.headers } }
  const { status, body } = response
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !DROPPED_HEADERS.has(name)))
  const cookies = response.headers.getSetCookie()
  const head = { status, headers, ...(cookies.length > 0 && { cookies }) }
  if (!body) return head
  const isJson = headers['content-type']?.startsWith('application/json')
  return { ...head, body: isJson ? new Uint8Array(await response.arrayBuffer()) : createFetchBody(response) }
}

/** Headers to drop: those that describe a body as it was sent, which `fetch` has decoded, and `set-cookie`, which may occur several times. */
const DROPPED_HEADERS: ReadonlySet<string> = new Set([
  ...['connection', 'content-encoding', 'content-length', 'keep-alive', 'set-cookie', 'transfer-encoding'],
])
