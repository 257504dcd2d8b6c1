import type { Reply } from '../../lib/exchange.ts'
import { newId } from '../../lib/new-id.ts'
import type { CanonicalResponse } from '../../protocols/formats/canonical/canonical-response.ts'
import { createResponseWarnings, createWarnings } from '../../protocols/formats/canonical/canonical-warnings.ts'
import { toStreamEvents } from '../../protocols/formats/canonical/response-events.ts'
import type { CallRequest } from '../../request/call-steps.ts'
import { shouldSendArray } from '../../request/codec/model-call.ts'
import { STREAM_HEADERS } from '../../request/codec/stream-headers.ts'
import { createParseContext, createWriterContext } from '../../request/codec/translate-request.ts'
import type { Guard } from './guard.ts'
import { createGuardRejection } from './guard-rejection.ts'

/** A guard's decision to respond in place of the provider. */
type GuardReply =
  | { readonly refused: Guard; readonly category: string | undefined }
  | { readonly answered: Guard; readonly text: string }

/**
 * Writes a guard's own response in the client's format, either complete or as a stream. Throws `CONTENT_REFUSED` if the guard rejects requests with
 * an error.
 */
export async function writeReply(call: CallRequest, reply: GuardReply): Promise<Reply> {
  const guard = 'refused' in reply ? reply.refused : reply.answered
  const category = 'refused' in reply ? reply.category : undefined
  const { operation } = call.request.call.endpoint
  const text = 'answered' in reply ? reply.text : ''
  const isError = 'refused' in reply && guard.as !== 'answer'
  if (isError || !TEXT_OPERATIONS.has(operation.name))
    throw createGuardRejection(text === '' ? guard : { ...guard, message: text }, category)
  const { message } = createGuardRejection(guard, category)
  const finish =
    'answered' in reply ? { reason: 'stop' as const } : { reason: 'content-filter' as const, explanation: message }
  const body = operation.name === 'complete' ? writeCompletion(call, { text, isStop: 'answered' in reply }) : undefined
  const usage = { inputTokens: 0, outputTokens: 0 }
  const content = text === '' ? [] : [{ type: 'text' as const, text }]
  const { body: replyBody, contentType } =
    body ?? (await writeResponse(call, { choices: [{ content, finish }], usage }))
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      ...(call.stream && STREAM_HEADERS),
      'x-signalbox-guards': `${'answered' in reply ? 'answered' : 'refused'}; name=${guard.name}`,
    },
    body: replyBody,
  }
}

/** Operations whose responses can contain text. */
const TEXT_OPERATIONS: ReadonlySet<string> = new Set(['generate', 'complete'])

async function writeResponse(
  call: CallRequest,
  response: CanonicalResponse,
): Promise<{ body: string; contentType: string }> {
  const { request, stream, body, model } = call
  const client = await request.format.loadTranslator()
  const warnings = createWarnings({ isStrict: false, names: client.fieldNames })
  const parsed = client.parseRequest(
    body,
    createParseContext(request, { warnings, stream, isArray: shouldSendArray(request) }),
  )
  const context = createWriterContext(request, { request: parsed, model, responseWarnings: createResponseWarnings() })
  if (!stream) return { body: JSON.stringify(client.writeResponse(response, context)), contentType: 'application/json' }
  let events = ''
  const writer = client.createWriter(context, (event) => {
    events += event
  })
  for (const event of toStreamEvents(response)) writer.push(event)
  return { body: events, contentType: writer.contentType ?? 'text/event-stream' }
}

/** Writes a text completion directly, because this format is never translated. */
function writeCompletion(
  { stream, model, request }: CallRequest,
  { text, isStop }: { text: string; isStop: boolean },
): { body: string; contentType: string } {
  const json = JSON.stringify({
    id: `cmpl-${newId()}`,
    object: 'text_completion',
    created: Math.floor(request.context.clock.now() / 1_000),
    model,
    choices: [{ index: 0, text, logprobs: null, finish_reason: isStop ? 'stop' : 'content_filter' }],
    ...(!stream && { usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } }),
  })
  return stream
    ? { body: `data: ${json}\n\ndata: [DONE]\n\n`, contentType: 'text/event-stream' }
    : { body: json, contentType: 'application/json' }
}
