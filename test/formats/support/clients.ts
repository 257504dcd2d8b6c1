import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { WireFormat } from '../../../src/types.ts'

/** What a client has made of an answer, in one vocabulary for all formats. */
export interface Understood {
  text: string
  reasoning: string
  calls: { name: string; args: unknown }[]
  finish: 'stop' | 'calls' | 'length' | 'filter'
  inputTokens: number
  outputTokens: number
}

/** The vendors' own clients, each on a stream of its format. Rejects with the client's own error. */
export const clients: Readonly<Record<WireFormat, (stream: Response) => Promise<Understood>>> = {
  'openai-chat': chatClient,
  'openai-responses': responsesClient,
  'anthropic-messages': messagesClient,
  gemini: geminiClient,
}

const model = 'm'
const apiKey = 'k'

async function chatClient(response: Response): Promise<Understood> {
  const client = new OpenAI({ apiKey, fetch: async () => response, maxRetries: 0 })
  let reasoning = ''
  const stream = client.chat.completions
    .stream({ model, messages: [], stream_options: { include_usage: true } })
    .on('chunk', ({ choices }) => {
      const delta = choices[0]?.delta
      if (delta && 'reasoning_content' in delta && delta.reasoning_content) reasoning += delta.reasoning_content
    })
  const { choices, usage } = await stream.finalChatCompletion()
  const [choice] = choices
  const finishes = { tool_calls: 'calls', length: 'length', content_filter: 'filter' } as const
  return {
    text: (choice?.message.content ?? '') + (choice?.message.refusal ?? ''),
    reasoning,
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      'function' in call ? [{ name: call.function.name, args: argsOf(call.function.arguments) }] : [],
    ),
    finish:
      choice && choice.finish_reason in finishes ? finishes[choice.finish_reason as keyof typeof finishes] : 'stop',
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
  }
}

async function responsesClient(response: Response): Promise<Understood> {
  const client = new OpenAI({ apiKey, fetch: async () => response, maxRetries: 0 })
  const { output, usage, status, incomplete_details } = await client.responses
    .stream({ model, input: 'x' })
    .finalResponse()
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ name: item.name, args: argsOf(item.arguments) }] : [],
  )
  const cut = incomplete_details?.reason === 'content_filter' ? 'filter' : 'length'
  return {
    text: output
      .flatMap((item) => (item.type === 'message' ? item.content : []))
      .map((part) => (part.type === 'output_text' ? part.text : part.refusal))
      .join(''),
    reasoning: output
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map(({ text }) => text)
      .join(''),
    calls,
    finish: status === 'incomplete' ? cut : calls.length > 0 ? 'calls' : 'stop',
    inputTokens: usage?.input_tokens ?? 0,
    outputTokens: usage?.output_tokens ?? 0,
  }
}

async function messagesClient(response: Response): Promise<Understood> {
  const client = new Anthropic({ apiKey, fetch: async () => response, maxRetries: 0 })
  const stream = client.messages.stream({ model, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
  const { content, stop_reason, usage } = await stream.finalMessage()
  const finishes: Record<string, Understood['finish']> = { tool_use: 'calls', max_tokens: 'length', refusal: 'filter' }
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [{ name: block.name, args: block.input }] : [])),
    finish: finishes[stop_reason ?? ''] ?? 'stop',
    inputTokens: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
    outputTokens: usage.output_tokens,
  }
}

async function geminiClient(response: Response): Promise<Understood> {
  const client = new GoogleGenAI({ apiKey, httpOptions: { fetch: async () => response } })
  const said: Understood = { text: '', reasoning: '', calls: [], finish: 'stop', inputTokens: 0, outputTokens: 0 }
  let finish: string | undefined
  for await (const { candidates, usageMetadata } of await client.models.generateContentStream({
    model,
    contents: 'x',
  })) {
    const [candidate] = candidates ?? []
    for (const { text = '', thought, functionCall } of candidate?.content?.parts ?? []) {
      said[thought ? 'reasoning' : 'text'] += text
      if (functionCall) said.calls.push({ name: functionCall.name ?? '', args: functionCall.args ?? {} })
    }
    finish = candidate?.finishReason ?? finish
    said.inputTokens = usageMetadata?.promptTokenCount ?? said.inputTokens
    if (usageMetadata)
      said.outputTokens = (usageMetadata.candidatesTokenCount ?? 0) + (usageMetadata.thoughtsTokenCount ?? 0)
  }
  if (finish === undefined) throw new Error('the stream has no finish reason')
  const filters = ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII']
  said.finish =
    finish === 'MAX_TOKENS' ? 'length' : filters.includes(finish) ? 'filter' : said.calls.length > 0 ? 'calls' : 'stop'
  return said
}

function argsOf(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return { _raw: text }
  }
}
