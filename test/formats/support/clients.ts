import Anthropic from '@anthropic-ai/sdk'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { WireFormat } from '../../../src/types.ts'

/** A response as a client understood it, in format-neutral terms. */
export interface Understood {
  text: string
  reasoning: string
  calls: { name: string; args: unknown }[]
  finish: 'stop' | 'calls' | 'length' | 'filter'
  inputTokens: number
  outputTokens: number
}

type Client = (response: Response) => Promise<Understood>

/** The vendors' own clients, each of which reads a stream in its own format. They reject with the client's own error. */
export const clients: Readonly<Record<WireFormat, Client>> = {
  'openai-chat': chatClient,
  'openai-responses': responsesClient,
  'anthropic-messages': messagesClient,
  gemini: geminiClient,
}

/** The same clients, reading non-streaming responses. */
export const wholeClients: Readonly<Record<WireFormat, Client>> = {
  'openai-chat': async (response) => ofChat(await openai(response).chat.completions.create({ model, messages: [] })),
  'openai-responses': async (response) => ofResponse(await openai(response).responses.create({ model, input: 'x' })),
  'anthropic-messages': async (response) => ofMessage(await anthropic(response).messages.create(message)),
  gemini: async (response) => ofGemini([await google(response).models.generateContent({ model, contents: 'x' })]),
}

const model = 'm'
const apiKey = 'k'
const message = { model, max_tokens: 9, messages: [{ role: 'user' as const, content: 'x' }] }

const openai = (response: Response) => new OpenAI({ apiKey, fetch: async () => response, maxRetries: 0 })
const anthropic = (response: Response) => new Anthropic({ apiKey, fetch: async () => response, maxRetries: 0 })
const google = (response: Response) => new GoogleGenAI({ apiKey, httpOptions: { fetch: async () => response } })

async function chatClient(response: Response): Promise<Understood> {
  let reasoning = ''
  const stream = openai(response)
    .chat.completions.stream({ model, messages: [], stream_options: { include_usage: true } })
    .on('chunk', ({ choices }) => {
      const delta = choices[0]?.delta
      if (delta && 'reasoning_content' in delta && delta.reasoning_content) reasoning += delta.reasoning_content
    })
  return ofChat(await stream.finalChatCompletion(), reasoning)
}

function ofChat({ choices, usage }: OpenAI.ChatCompletion, streamed = ''): Understood {
  const [choice] = choices
  const full = choice && 'reasoning_content' in choice.message ? choice.message.reasoning_content : undefined
  const finishes = { tool_calls: 'calls', length: 'length', content_filter: 'filter' } as const
  return {
    text: (choice?.message.content ?? '') + (choice?.message.refusal ?? ''),
    reasoning: streamed || (typeof full === 'string' ? full : ''),
    calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
      'function' in call ? [{ name: call.function.name, args: getArguments(call.function.arguments) }] : [],
    ),
    finish:
      choice && choice.finish_reason in finishes ? finishes[choice.finish_reason as keyof typeof finishes] : 'stop',
    inputTokens: usage?.prompt_tokens ?? 0,
    outputTokens: usage?.completion_tokens ?? 0,
  }
}

async function responsesClient(response: Response): Promise<Understood> {
  return ofResponse(await openai(response).responses.stream({ model, input: 'x' }).finalResponse())
}

type ResponsesOutput = Pick<OpenAI.Responses.Response, 'output' | 'usage' | 'status' | 'incomplete_details'>

function ofResponse({ output, usage, status, incomplete_details }: ResponsesOutput): Understood {
  const calls = output.flatMap((item) =>
    item.type === 'function_call' ? [{ name: item.name, args: getArguments(item.arguments) }] : [],
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
  return ofMessage(await anthropic(response).messages.stream(message).finalMessage())
}

function ofMessage({ content, stop_reason, usage }: Anthropic.Message): Understood {
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
  return ofGemini(await google(response).models.generateContentStream({ model, contents: 'x' }))
}

async function ofGemini(
  chunks: AsyncIterable<GenerateContentResponse> | GenerateContentResponse[],
): Promise<Understood> {
  const written: Understood = { text: '', reasoning: '', calls: [], finish: 'stop', inputTokens: 0, outputTokens: 0 }
  let finish: string | undefined
  for await (const { candidates, usageMetadata } of chunks) {
    const [candidate] = candidates ?? []
    for (const { text = '', thought, functionCall } of candidate?.content?.parts ?? []) {
      written[thought ? 'reasoning' : 'text'] += text
      if (functionCall) written.calls.push({ name: functionCall.name ?? '', args: functionCall.args ?? {} })
    }
    finish = candidate?.finishReason ?? finish
    if (usageMetadata) {
      written.inputTokens = (usageMetadata.promptTokenCount ?? 0) + (usageMetadata.toolUsePromptTokenCount ?? 0)
      written.outputTokens = (usageMetadata.candidatesTokenCount ?? 0) + (usageMetadata.thoughtsTokenCount ?? 0)
    }
  }
  if (finish === undefined) throw new Error('the stream has no finish reason')
  const filters = ['SAFETY', 'RECITATION', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'MODEL_ARMOR']
  const isCut = finish === 'MAX_TOKENS' || String(finish) === '2' // the Vertex AI client uses the number
  written.finish = isCut ? 'length' : filters.includes(finish) ? 'filter' : written.calls.length > 0 ? 'calls' : 'stop'
  return written
}

function getArguments(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch {
    return { _raw: text }
  }
}
