import type { JsonObject } from '../../../src/lib/json.ts'
import type { ClientFormat } from '../../../src/types.ts'
import type { Random } from '../../support/random.ts'

/** A message of an agent's conversation, in no particular format. */
export type Step =
  | { type: 'user'; text: string; image?: string | undefined }
  | { type: 'system'; text: string }
  | { type: 'assistant'; text: string; thought?: string | undefined; calls: Call[] }
  | { type: 'results'; results: Array<{ call: Call; text: string }> }

interface Call {
  id: string
  name: string
  input: JsonObject
}

export interface ConversationOptions {
  /** Whether messages are as long as those of coding agents, which read files and seldom get user messages. */
  isAgent?: boolean
  /** Whether users send inline images. */
  hasImageData?: boolean
  /** Whether responses have signed reasoning. */
  hasReasoning?: boolean
  /** Whether users send image URLs. */
  hasImages?: boolean
  /** Whether some instructions come after the first turn. */
  hasLateSystem?: boolean
}

const words = (random: Random, most: number) =>
  Array.from({ length: 1 + random.below(most) }, () => (random.next() + 1).toString(36).slice(2, 9)).join(' ')

/**
 * Creates the messages of an agent with `turns` model calls. Each call gets the messages before one of the responses, or all messages. Call IDs
 * contain characters that some providers reject, and some IDs repeat.
 */
export function createConversation(random: Random, turns: number, options: ConversationOptions = {}): Step[] {
  const { hasReasoning, hasImages, hasImageData, hasLateSystem, isAgent } = options
  const scale = isAgent ? 10 : 1
  const steps: Step[] = []
  for (let turn = 0; turn < turns; turn++) {
    const before = steps.at(-1)
    if (before?.type !== 'results') {
      const url = hasImageData ? `data:image/png;base64,${PNG}` : `https://images.example.com/${turn}.png`
      const image = (hasImages || hasImageData) && random.next() < 0.3 ? url : undefined
      steps.push({ type: 'user', text: words(random, 20), image })
      if (hasLateSystem && random.next() < 0.3) steps.push({ type: 'system', text: words(random, 5) })
    }
    const count = isAgent ? countCalls(random) : random.below(4)
    const calls = Array.from({ length: count }, (_, index) => ({
      id: random.next() < 0.1 ? `call:${random.below(9)}` : `toolu_${turn}_${index}`,
      name: random.next() < 0.2 ? 'files.read' : 'search',
      input: { query: words(random, 4), limit: random.below(9) },
    }))
    const distinct = calls.filter(({ id }, index) => calls.findIndex((call) => call.id === id) === index)
    const thought = hasReasoning && random.next() < 0.7 ? words(random, 9) : undefined
    steps.push({ type: 'assistant', text: words(random, 9), thought, calls: distinct })
    if (distinct.length > 0)
      steps.push({ type: 'results', results: distinct.map((call) => ({ call, text: words(random, 30 * scale) })) })
  }
  return steps
}

/** Agents usually call one to three tools, sometimes many, and seldom wait for a user message. */
function countCalls(random: Random): number {
  const chance = random.next()
  return chance < 0.12 ? 0 : chance < 0.2 ? 11 : 1 + random.below(3)
}

/** A one-pixel image. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const SYSTEM = 'You are an agent. '.repeat(900)
const TOOLS = ['search', 'files.read'].map((name) => ({
  name,
  description: `Calls ${name}. `.repeat(160),
  schema: { type: 'object', properties: { query: { type: 'string' }, limit: { type: 'integer' } } },
}))

/** Writes the request that a client sends for these messages. */
export type ClientWriter = (steps: readonly Step[]) => JsonObject

const writeChat: ClientWriter = (steps) => ({
  ...{ model: 'm', max_tokens: 500, stream: false },
  tools: TOOLS.map(({ name, description, schema }) => ({
    ...{ type: 'function', function: { name: name.replace('.', '_'), description, parameters: schema } },
  })),
  messages: [{ role: 'system', content: SYSTEM }, ...steps.flatMap(writeChatMessage)],
})

function writeChatMessage(step: Step): JsonObject[] {
  switch (step.type) {
    case 'user': {
      const image = step.image && { type: 'image_url', image_url: { url: step.image } }
      return [{ role: 'user', content: image ? [image, { type: 'text', text: step.text }] : step.text }]
    }
    case 'system':
      return [{ role: 'system', content: step.text }]
    case 'assistant': {
      const tool_calls = step.calls.map(({ id, name, input }) => ({
        ...{ id, type: 'function' },
        function: { name: name.replace('.', '_'), arguments: JSON.stringify(input) },
      }))
      const thought = step.thought && { reasoning_content: step.thought }
      return [{ role: 'assistant', content: step.text, ...thought, ...(tool_calls.length > 0 && { tool_calls }) }]
    }
    case 'results':
      return step.results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text }))
  }
}

const writeResponses: ClientWriter = (steps) => ({
  ...{ model: 'm', max_output_tokens: 500, store: false, instructions: SYSTEM },
  tools: TOOLS.map(({ name, description, schema }) => ({
    ...{ type: 'function', name: name.replace('.', '_'), description, parameters: schema, strict: false },
  })),
  input: steps.flatMap(writeResponsesItem),
})

function writeResponsesItem(step: Step): JsonObject[] {
  switch (step.type) {
    case 'user': {
      const image = step.image ? [{ type: 'input_image', image_url: step.image }] : []
      return [{ role: 'user', content: [...image, { type: 'input_text', text: step.text }] }]
    }
    case 'system':
      return [{ role: 'developer', content: step.text }]
    case 'assistant':
      return [
        { role: 'assistant', content: [{ type: 'output_text', text: step.text, annotations: [] }] },
        ...step.calls.map(({ id, name, input }) => ({
          ...{ type: 'function_call', call_id: id, name: name.replace('.', '_') },
          arguments: JSON.stringify(input),
        })),
      ]
    case 'results':
      return step.results.map(({ call, text }) => ({ type: 'function_call_output', call_id: call.id, output: text }))
  }
}

const writeMessages: ClientWriter = (steps) => ({
  ...{ model: 'm', max_tokens: 500, system: SYSTEM },
  tools: TOOLS.map(({ name, description, schema }) => ({
    ...{ name: name.replace('.', '_'), description, input_schema: schema },
  })),
  messages: steps.map(writeMessage),
})

const toSource = (image: string) =>
  image.startsWith('data:') ? { type: 'base64', media_type: 'image/png', data: PNG } : { type: 'url', url: image }

function writeMessage(step: Step): JsonObject {
  switch (step.type) {
    case 'user': {
      const image = step.image ? [{ type: 'image', source: toSource(step.image) }] : []
      return { role: 'user', content: [...image, { type: 'text', text: step.text }] }
    }
    case 'system':
      return { role: 'system', content: step.text }
    case 'assistant': {
      const thought = step.thought ? [{ type: 'thinking', thinking: step.thought, signature: 'c2lnbmF0dXJl' }] : []
      const calls = step.calls.map(({ id, name, input }) => ({
        ...{ type: 'tool_use', id, name: name.replace('.', '_'), input },
      }))
      return { role: 'assistant', content: [...thought, { type: 'text', text: step.text }, ...calls] }
    }
    case 'results':
      return {
        role: 'user',
        content: step.results.map(({ call, text }) => ({ type: 'tool_result', tool_use_id: call.id, content: text })),
      }
  }
}

/** Gemini's calls have no IDs, and its conversations have no late instructions. */
const writeGemini: ClientWriter = (steps) => ({
  systemInstruction: { parts: [{ text: SYSTEM }] },
  tools: [
    {
      functionDeclarations: TOOLS.map(({ name, description, schema }) => ({
        ...{ name, description, parametersJsonSchema: schema },
      })),
    },
  ],
  generationConfig: { maxOutputTokens: 500 },
  contents: steps.flatMap(writeGeminiContent),
})

const toImagePart = (image: string) =>
  image.startsWith('data:')
    ? { inlineData: { mimeType: 'image/png', data: PNG } }
    : { fileData: { mimeType: 'image/png', fileUri: image } }

function writeGeminiContent(step: Step): JsonObject[] {
  switch (step.type) {
    case 'user': {
      const image = step.image ? [toImagePart(step.image)] : []
      return [{ role: 'user', parts: [...image, { text: step.text }] }]
    }
    case 'system':
      return []
    case 'assistant': {
      const thought = step.thought ? [{ text: step.thought, thought: true }] : []
      const calls = step.calls.map(({ name, input }) => ({ functionCall: { name, args: input } }))
      return [{ role: 'model', parts: [...thought, { text: step.text }, ...calls] }]
    }
    case 'results':
      return [
        {
          role: 'user',
          parts: step.results.map(({ call, text }) => ({
            functionResponse: { name: call.name, response: { output: text } },
          })),
        },
      ]
  }
}

const writeAiSdk: ClientWriter = (steps) => ({
  maxOutputTokens: 500,
  tools: TOOLS.map(({ name, description, schema }) => ({
    ...{ type: 'function', name: name.replace('.', '_'), description, inputSchema: schema },
  })),
  prompt: [{ role: 'system', content: SYSTEM }, ...steps.map(writeAiSdkMessage)],
})

function writeAiSdkMessage(step: Step): JsonObject {
  switch (step.type) {
    case 'user': {
      const image = step.image ? [{ type: 'file', mediaType: 'image/png', data: step.image }] : []
      return { role: 'user', content: [...image, { type: 'text', text: step.text }] }
    }
    case 'system':
      return { role: 'system', content: step.text }
    case 'assistant': {
      const calls = step.calls.map(({ id, name, input }) => ({
        ...{ type: 'tool-call', toolCallId: id, toolName: name.replace('.', '_'), input },
      }))
      const thought = step.thought ? [{ type: 'reasoning', text: step.thought }] : []
      return { role: 'assistant', content: [...thought, { type: 'text', text: step.text }, ...calls] }
    }
    case 'results':
      return {
        role: 'tool',
        content: step.results.map(({ call, text }) => ({
          ...{ type: 'tool-result', toolCallId: call.id, toolName: call.name.replace('.', '_') },
          output: { type: 'text', value: text },
        })),
      }
  }
}

/** Writes a conversation as a client of each format would. */
export const clientWriters: Readonly<Record<ClientFormat, ClientWriter>> = {
  'openai-chat': writeChat,
  'openai-responses': writeResponses,
  'anthropic-messages': writeMessages,
  gemini: writeGemini,
  'ai-sdk': writeAiSdk,
}

/** Returns where each request of a conversation ends. A request contains the messages before one of the model's responses. */
export const listRequestEnds = (steps: readonly Step[]): number[] =>
  steps.flatMap(({ type }, index) => (type === 'assistant' ? [index] : []))
