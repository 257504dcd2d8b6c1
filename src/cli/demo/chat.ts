import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../lib/json.ts'
import { isObject } from '../../lib/json.ts'
import { eventStream, story, tokensOf, words } from './story.ts'

/** The story as an answer of OpenAI Chat Completions, streamed or whole. */
export function chatAnswer(body: JsonObject, signal: AbortSignal | undefined): Response {
  const base = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: body.model }
  const usage = usageOf(body.messages)
  if (body.stream === true) {
    const withUsage = isObject(body.stream_options) && body.stream_options.include_usage === true
    return eventStream(chunks({ ...base, object: 'chat.completion.chunk' }, withUsage ? usage : undefined), signal)
  }
  const message = { role: 'assistant', content: story, refusal: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  return Response.json({ ...base, object: 'chat.completion', choices, usage })
}

function* chunks(base: object, usage: object | undefined) {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
  yield { text: chunk({ role: 'assistant', content: '' }), isWord: false }
  for (const word of words) yield { text: chunk({ content: word }), isWord: true }
  yield { text: chunk({}, 'stop'), isWord: false }
  if (usage) yield { text: event({ ...base, choices: [], usage }), isWord: false }
  yield { text: 'data: [DONE]\n\n', isWord: false }
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`

function usageOf(messages: unknown) {
  const { input, output } = tokensOf(messages)
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
}
