import { answerAt, getJson } from '../../kinds/samples.ts'
import { chatChunk, textDelta } from '../../pipeline/support/responses.ts'
import { type Call, json, type Respond, sse } from '../../pipeline/support/upstream.ts'

/** How a provider responds. */
export interface Metering {
  /** The number of tokens it reports. Defaults: 7 for input and 5 for output. */
  input?: number
  output?: number
  /** The number of words in the response. Default: one. */
  words?: string[]
}

/** Creates providers of all formats. They add the tokens they report to `reported`. */
export const metered =
  (metering: Metering | ((call: Call) => Metering), reported: { tokens: number }): Respond =>
  (call) => {
    const { input = 7, output = 5, words = ['Hello'] } = typeof metering === 'function' ? metering(call) : metering
    const { pathname } = call.url
    const count = (tokens = input + output) => {
      reported.tokens += tokens
    }
    const ofKind = answerAt(pathname)
    if (ofKind) {
      reported.tokens += getTokens(getJson(pathname) ?? {})
      return ofKind
    }
    const body = JSON.parse(call.body)
    if (/count_tokens|countTokens|input_tokens/.test(pathname)) return json(getCount(pathname, input))
    const isStream = body.stream === true || pathname.includes('streamGenerateContent')
    const terms = { input, output, words, count }
    const response =
      Object.entries(responses).find(([path]) => pathname.includes(path))?.[1] ?? responses['chat/completions']
    return isStream ? sse(response.events(terms)) : json(response.whole(terms))
  }

/** Returns the tokens reported by a response in OpenAI's format. */
function getTokens(response: object): number {
  const { usage } = response as { usage?: { total_tokens?: number } }
  return usage?.total_tokens ?? 0
}

interface Terms {
  input: number
  output: number
  words: string[]
  /** Adds the tokens reported now. Default: all. */
  count(tokens?: number): void
}

interface Replies {
  whole(terms: Terms): object
  events(terms: Terms): Iterable<string>
}

const getCount = (path: string, tokens: number) =>
  path.includes('countTokens') ? { totalTokens: tokens } : { input_tokens: tokens }

const event = (data: { type: string; [name: string]: unknown }) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const chatUsage = ({ input, output }: Terms) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

const responseUsage = ({ input, output }: Terms) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
})

function response(terms: Terms) {
  const content = [{ type: 'output_text', text: terms.words.join(' '), annotations: [] }]
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'r',
    status: 'completed',
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
    usage: responseUsage(terms),
  }
}

const geminiUsage = ({ input, output }: Terms) => ({
  promptTokenCount: input,
  candidatesTokenCount: output,
  totalTokenCount: input + output,
})

const candidate = (text: string, finishReason?: string) => [
  { index: 0, content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) },
]

const responses: Record<string, Replies> & { 'chat/completions': Replies } = {
  'chat/completions': {
    whole(terms) {
      terms.count()
      const message = { role: 'assistant', content: terms.words.join(' ') }
      const choices = [{ index: 0, message, finish_reason: 'stop', text: message.content }]
      return { id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices, usage: chatUsage(terms) }
    },
    *events(terms) {
      yield chatChunk({ role: 'assistant', content: '' })
      for (const content of terms.words) yield chatChunk({ content })
      yield chatChunk({}, 'stop')
      terms.count()
      yield `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage: chatUsage(terms) })}\n\n`
      yield 'data: [DONE]\n\n'
    },
  },
  '/responses': {
    whole(terms) {
      terms.count()
      return response(terms)
    },
    *events(terms) {
      const { output, usage: _, ...begun } = response(terms)
      const started = { ...begun, status: 'in_progress', output: [] }
      let sequence = 0
      const next = (type: string, extra: object) => event({ type, sequence_number: sequence++, ...extra })
      yield next('response.created', { response: started })
      yield next('response.output_item.added', { output_index: 0, item: { ...output[0], content: [] } })
      const part = { type: 'output_text', text: '', annotations: [] }
      yield next('response.content_part.added', { item_id: 'msg_1', output_index: 0, content_index: 0, part })
      for (const delta of terms.words)
        yield next('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta })
      yield next('response.output_item.done', { output_index: 0, item: output[0] })
      terms.count()
      yield next('response.completed', { response: response(terms) })
    },
  },
  '/messages': {
    whole(terms) {
      terms.count()
      const { input, output, words } = terms
      return {
        id: 'm1',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content: [{ type: 'text', text: words.join(' ') }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: input, output_tokens: output },
      }
    },
    *events(terms) {
      const { input, output, words } = terms
      const message = { id: 'm1', type: 'message', role: 'assistant', model: 'c', content: [], stop_reason: null }
      const usage = { input_tokens: input, output_tokens: 1 }
      terms.count(input + 1)
      yield event({ type: 'message_start', message: { ...message, stop_sequence: null, usage } })
      yield event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
      for (const word of words) yield textDelta(word)
      yield event({ type: 'content_block_stop', index: 0 })
      terms.count(output - 1)
      const delta = { stop_reason: 'end_turn', stop_sequence: null }
      yield event({ type: 'message_delta', delta, usage: { output_tokens: output } })
      yield event({ type: 'message_stop' })
    },
  },
  ':generateContent': {
    whole(terms) {
      terms.count()
      return { candidates: candidate(terms.words.join(' '), 'STOP'), usageMetadata: geminiUsage(terms) }
    },
    events: () => [],
  },
  ':streamGenerateContent': {
    whole: () => ({}),
    *events(terms) {
      for (const word of terms.words) yield `data: ${JSON.stringify({ candidates: candidate(word) })}\n\n`
      terms.count()
      yield `data: ${JSON.stringify({ candidates: candidate('', 'STOP'), usageMetadata: geminiUsage(terms) })}\n\n`
    },
  },
}
