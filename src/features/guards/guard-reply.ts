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
import type { GuardRun } from './run-guards.ts'

/** A guard's decision to respond in place of the provider. */
type GuardReply =
  | { readonly rejectedBy: Guard; readonly category: string | undefined }
  | { readonly answeredBy: Guard; readonly text: string }

/**
 * Writes a guard's own response in the client's format, either complete or as a stream. Throws `CONTENT_REFUSED` if the guard rejects requests with
 * an error.
 */
export async function writeReply(call: CallRequest, reply: GuardReply): Promise<Reply> {
  const guard = 'rejectedBy' in reply ? reply.rejectedBy : reply.answeredBy
  const category = 'rejectedBy' in reply ? reply.category : undefined
  const { operation } = call.request.call.endpoint
  const text = 'answeredBy' in reply ? reply.text : ''
  const isError = 'rejectedBy' in reply && guard.as !== 'answer'
  if (isError || !TEXT_OPERATIONS.has(operation.name))
    throw createGuardRejection(text === '' ? guard : { ...guard, message: text }, category)
  const { message } = createGuardRejection(guard, category)
  const finish =
    'answeredBy' in reply ? { reason: 'stop' as const } : { reason: 'content-filter' as const, explanation: message }
  const completion =
    operation.name === 'complete' ? writeCompletion(call, { text, isStop: 'answeredBy' in reply }) : undefined
  const usage = { inputTokens: 0, outputTokens: 0 }
  const content = text === '' ? [] : [{ type: 'text' as const, text }]
  const { body: replyBody, contentType } =
    completion ?? (await writeResponse(call, { choices: [{ content, finish }], usage }))
  return {
    status: 200,
    headers: {
      'content-type': contentType,
      ...(call.stream && STREAM_HEADERS),
      'x-signalbox-guards': `${'answeredBy' in reply ? 'answered' : 'refused'}; name=${guard.name}`,
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
  const translator = await request.format.loadTranslator()
  const warnings = createWarnings({ isStrict: false, names: translator.fieldNames })
  const canonicalRequest = translator.parseRequest(
    body,
    createParseContext(request, { warnings, stream, isArray: shouldSendArray(request) }),
  )
  const context = createWriterContext(request, {
    request: canonicalRequest,
    model,
    responseWarnings: createResponseWarnings(),
  })
  if (!stream)
    return { body: JSON.stringify(translator.writeResponse(response, context)), contentType: 'application/json' }
  let events = ''
  const writer = translator.createWriter(context, (event) => {
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

/** Adds the header that reports the guards' verdicts. */
export function withVerdictHeader(reply: Reply, run: GuardRun, extraWarnings: readonly string[] = []): Reply {
  const verdicts = run.verdicts.map(
    ({ name, verdict, isWatched }) => `${isWatched ? 'watched-' : ''}${VERDICT_LABELS[verdict]}; name=${name}`,
  )
  const header = [...new Set([...verdicts, ...extraWarnings])].join(', ')
  return header === '' ? reply : { ...reply, headers: { ...reply.headers, 'x-signalbox-guards': header } }
}

const VERDICT_LABELS = {
  ...{ pass: 'passed', change: 'changed', refuse: 'refused', answer: 'answered' },
  ...{ failed: 'failed', 'failed-open': 'failed-open' },
} as const
