import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../lib/json.ts'
import { eventStream, story, tokensOf, words } from './story.ts'

/** The story as an answer of Anthropic Messages, streamed or whole. */
export function messagesAnswer(body: JsonObject, signal: AbortSignal | undefined): Response {
  const { input, output } = tokensOf(body.messages)
  const message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: body.model }
  const ends = { stop_reason: 'end_turn', stop_sequence: null }
  if (body.stream !== true) {
    const content = [{ type: 'text', text: story }]
    return Response.json({ ...message, content, ...ends, usage: { input_tokens: input, output_tokens: output } })
  }
  const opening = { ...message, content: [], stop_reason: null, stop_sequence: null }
  const start = { ...opening, usage: { input_tokens: input, output_tokens: 1 } }
  return eventStream(events(start, { delta: ends, usage: { output_tokens: output } }), signal)
}

/** The answer of `POST /messages/count_tokens`. */
export function countTokens(body: JsonObject): Response {
  return Response.json({ input_tokens: tokensOf(body.messages).input })
}

function* events(message: object, end: object) {
  yield event({ type: 'message_start', message })
  yield event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  for (const text of words) {
    yield event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, true)
  }
  yield event({ type: 'content_block_stop', index: 0 })
  yield event({ type: 'message_delta', ...end })
  yield event({ type: 'message_stop' })
}

const event = (data: { type: string; [name: string]: unknown }, isWord = false) => ({
  text: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`,
  isWord,
})
