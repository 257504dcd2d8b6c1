import { defaultCatalog } from '../../../src/protocols/providers/catalog.ts'
import type { Catalog, Connection } from '../../../src/types.ts'
import { fullResponses } from '../../formats/cases/responses.ts'
import { converseResponse } from '../../formats/support/event-stream.ts'
import { readChat, readConverse, readGemini, readMessages, readResponses } from './prompt-blocks.ts'
import {
  type CacheSimulator,
  type SimulatedUsage,
  simulateAutomatic,
  simulateBreakpoints,
  simulateMarks,
  simulateUnits,
} from './simulator.ts'

/** A model at a provider whose prompt cache is simulated. */
export interface SimulatedProvider {
  model: string
  connection?: Partial<Connection> & { provider: string }
  catalog?: Catalog
  createSimulator(): CacheSimulator
  /** The provider's response, with its usage. */
  respond(usage: SimulatedUsage): object
  /** Whether the gateway sets breakpoints. Otherwise, the provider caches automatically. */
  isMarked: boolean
}

const answerMessages = ({ input, read, written }: SimulatedUsage) => ({
  ...fullResponses['anthropic-messages'],
  usage: {
    ...{ input_tokens: input - read - written, output_tokens: 1 },
    ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
  },
})

const answerConverse = ({ input, read, written }: SimulatedUsage) => ({
  ...converseResponse(),
  usage: {
    ...{ inputTokens: input - read - written, outputTokens: 1, totalTokens: input + 1 },
    ...{ cacheReadInputTokens: read, cacheWriteInputTokens: written },
  },
})

const answerResponses = ({ input, read, written }: SimulatedUsage) => ({
  ...fullResponses['openai-responses'],
  usage: {
    ...{ input_tokens: input, output_tokens: 1, total_tokens: input + 1 },
    input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
  },
})

/** Creates a chat completion with a vendor-specific field for cached tokens. */
const answerChat = (getDetails: (usage: SimulatedUsage) => object) => (usage: SimulatedUsage) => ({
  ...fullResponses['openai-chat'],
  usage: {
    ...{ prompt_tokens: usage.input, completion_tokens: 1, total_tokens: usage.input + 1 },
    ...getDetails(usage),
  },
})

const standardDetails = ({ read, written }: SimulatedUsage) => ({
  prompt_tokens_details: { cached_tokens: read, ...(written > 0 && { cache_write_tokens: written }) },
})

const answerGemini = ({ input, read }: SimulatedUsage) => ({
  ...fullResponses.gemini,
  usageMetadata: {
    ...{ promptTokenCount: input, candidatesTokenCount: 1, totalTokenCount: input + 1 },
    cachedContentTokenCount: read,
  },
})

const bedrock = { provider: 'bedrock', apiKey: 'k', providerSpecificData: { region: 'eu-west-1' } }
const vertex = { provider: 'vertex', apiKey: 'ya29.token', providerSpecificData: { project: 'p' } }
const azure = { provider: 'azure', apiKey: 'k', providerSpecificData: { resource: 'r' } }
const openaiResponses: Catalog = { openai: { ...defaultCatalog.openai, format: 'openai-responses' } }
const xaiResponses: Catalog = { xai: { ...defaultCatalog.xai, format: 'openai-responses' } }
/** The same providers without the Responses format, so requests are translated instead of passed through. */
const chatOnly: Catalog = {
  openai: { ...defaultCatalog.openai, alsoSpeaks: [] },
  xai: { ...defaultCatalog.xai, alsoSpeaks: [] },
}

/** The number of servers at a provider that can't tell which requests belong together. */
const SERVERS = 8
const byKey = { servers: SERVERS, findServer: ({ body }: { body: Record<string, unknown> }) => body.prompt_cache_key }
const byHeader = (name: string) => ({
  servers: SERVERS,
  findServer: ({ headers }: { headers: Headers }) => headers.get(name),
})

/**
 * The providers, grouped by what and how they cache. Sources: their prompt caching docs, November 2026. If the docs disagree about the smallest
 * prefix, the largest number is used.
 */
export const simulatedProviders: Readonly<Record<string, SimulatedProvider>> = {
  'Claude at Anthropic': {
    model: 'anthropic/claude-sonnet-5-5',
    createSimulator: () => simulateMarks(readMessages, { minTokens: 4_096 }),
    respond: answerMessages,
    isMarked: true,
  },
  'Claude on Vertex AI': {
    model: 'vertex/claude-sonnet-5-5',
    connection: vertex,
    createSimulator: () => simulateMarks(readMessages, { minTokens: 4_096 }),
    respond: answerMessages,
    isMarked: true,
  },
  'Claude on Bedrock': {
    model: 'bedrock/us.anthropic.claude-sonnet-5-5',
    connection: bedrock,
    createSimulator: () => simulateMarks(readConverse, { minTokens: 4_096 }),
    respond: answerConverse,
    isMarked: true,
  },
  'Nova on Bedrock': {
    model: 'bedrock/eu.amazon.nova-pro-v1:0',
    connection: bedrock,
    createSimulator: () => simulateMarks(readConverse),
    respond: answerConverse,
    isMarked: true,
  },
  'Claude at OpenRouter': {
    model: 'openrouter/anthropic/claude-sonnet-5-5',
    createSimulator: () => simulateMarks(readChat, { minTokens: 4_096 }),
    respond: answerChat(standardDetails),
    isMarked: true,
  },
  'GPT-5.6 in Responses': {
    model: 'openai/gpt-5.6',
    catalog: openaiResponses,
    createSimulator: () => simulateBreakpoints(readResponses),
    respond: answerResponses,
    isMarked: true,
  },
  'GPT-5.6 in Chat Completions': {
    model: 'openai/gpt-5.6',
    catalog: chatOnly,
    createSimulator: () => simulateBreakpoints(readChat),
    respond: answerChat(standardDetails),
    isMarked: true,
  },
  'GPT-5.4 in Responses': {
    model: 'openai/gpt-5.4',
    catalog: openaiResponses,
    createSimulator: () => simulateAutomatic(readResponses, byKey),
    respond: answerResponses,
    isMarked: false,
  },
  'GPT-4.1 in Chat Completions': {
    model: 'openai/gpt-4.1',
    catalog: chatOnly,
    createSimulator: () => simulateAutomatic(readChat, byKey),
    respond: answerChat(standardDetails),
    isMarked: false,
  },
  'GPT-5.4 on Azure': {
    model: 'azure/gpt-5.4',
    connection: azure,
    createSimulator: () => simulateAutomatic(readChat, byKey),
    respond: answerChat(standardDetails),
    isMarked: false,
  },
  Mistral: {
    model: 'mistral/mistral-large-3',
    createSimulator: () => simulateAutomatic(readChat, byKey),
    respond: answerChat(({ read }) => ({ num_cached_tokens: read })),
    isMarked: false,
  },
  'xAI in Chat Completions': {
    model: 'xai/grok-4.7',
    catalog: chatOnly,
    createSimulator: () => simulateAutomatic(readChat, byHeader('x-grok-conv-id')),
    respond: answerChat(standardDetails),
    isMarked: false,
  },
  'xAI in Responses': {
    model: 'xai/grok-4.7',
    catalog: xaiResponses,
    createSimulator: () => simulateAutomatic(readResponses, byKey),
    respond: answerResponses,
    isMarked: false,
  },
  Fireworks: {
    model: 'fireworks/accounts/fireworks/models/kimi-k3',
    createSimulator: () => simulateAutomatic(readChat, byHeader('x-session-affinity')),
    respond: answerChat(standardDetails),
    isMarked: false,
  },
  DeepSeek: {
    model: 'deepseek/deepseek-flash',
    createSimulator: () => simulateUnits(readChat),
    respond: answerChat(({ input, read }) => ({
      prompt_cache_hit_tokens: read,
      prompt_cache_miss_tokens: input - read,
    })),
    isMarked: false,
  },
  Gemini: {
    model: 'google/gemini-3.5-flash',
    createSimulator: () => simulateAutomatic(readGemini, { minTokens: 4_096 }),
    respond: answerGemini,
    isMarked: false,
  },
  Groq: {
    model: 'groq/llama-3.3-70b-versatile',
    createSimulator: () => simulateAutomatic(readChat),
    respond: answerChat(standardDetails),
    isMarked: false,
  },
  Moonshot: {
    model: 'moonshot/kimi-k3',
    createSimulator: () => simulateAutomatic(readChat),
    respond: answerChat(({ read }) => ({ cached_tokens: read })),
    isMarked: false,
  },
  Qwen: {
    model: 'alibaba/qwen3.7-plus',
    createSimulator: () => simulateAutomatic(readChat),
    respond: answerChat(standardDetails),
    isMarked: false,
  },
}
