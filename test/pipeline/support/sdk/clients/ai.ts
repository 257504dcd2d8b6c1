import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import * as ai7 from 'ai'
import { getWeather, QUESTION, type Received, weather } from '../conversation.ts'
import { type Client, type CreateClient, listen, MAX_STEPS, type Manner } from './client.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }) // the AI SDK would warn about the unknown model name

/** AI SDK 6 has different names for these exports than AI SDK 7, or lacks them. */
type Ai6 = Omit<typeof ai7, 'isStepCount'> & { stepCountIs: typeof ai7.isStepCount }

/** Loads AI SDK 6 under AI SDK 7's names, as far as tests use them. Both have AI SDK 7's types. */
async function loadAi6(): Promise<typeof ai7> {
  const name: string = 'ai-6'
  const ai6: Ai6 = await import(name)
  return { ...ai6, isStepCount: ai6.stepCountIs }
}

export const ai6 = await loadAi6()

/** Converts a stream's error part, because AI SDK 6 passes it through unchanged. */
const asError = (error: unknown) => (error instanceof Error ? error : new Error(JSON.stringify(error)))

/** Returns the last step's usage. In AI SDK 6, that is the usage of the result itself. */
const lastUsage = async (result: {
  finalStep?: PromiseLike<{ usage: Counts }> | { usage: Counts }
  usage: PromiseLike<Counts> | Counts
}) => (await result.finalStep)?.usage ?? (await result.usage)

type Counts = Pick<ai7.LanguageModelUsage, 'inputTokens' | 'outputTokens'>

/** Creates a client that uses the AI SDK with the provider that creates its models. */
const over =
  (
    getModels: (fetch: typeof globalThis.fetch) => (model: string) => ai7.LanguageModel,
    providerOptions: Record<string, Record<string, boolean>> = {},
    sdk = ai7,
  ): CreateClient =>
  (fetch) => {
    const { generateText, isStepCount, jsonSchema, streamText, tool } = sdk
    const getModel = getModels(fetch)

    const send: Client['send'] = async (model, { stream, signal: abortSignal, onText }) => {
      const callOptions = {
        model: getModel(model),
        prompt: QUESTION,
        maxRetries: 0,
        ...(abortSignal && { abortSignal }),
      }
      if (!stream) return (await generateText(callOptions)).text
      const errors: unknown[] = []
      const { textStream } = streamText({ ...callOptions, onError: ({ error }) => void errors.push(error) })
      const text = await listen(textStream, (piece) => piece, onText)
      if (errors.length > 0) throw asError(errors[0])
      abortSignal?.throwIfAborted() // an aborted stream ends without an error
      return text
    }

    async function converse(model: string, { stream }: Manner): Promise<Received> {
      const calls: Received['calls'] = []
      const callOptions = {
        model: getModel(model),
        prompt: QUESTION,
        stopWhen: isStepCount(MAX_STEPS),
        maxRetries: 0,
        providerOptions,
        tools: {
          [weather.name]: tool({
            description: weather.description,
            inputSchema: jsonSchema<{ city: string }>(weather.schema),
            execute: async ({ city }) => {
              calls.push({ name: weather.name, city })
              return getWeather(city)
            },
          }),
        },
      }
      if (!stream) {
        const result = await generateText(callOptions)
        const { inputTokens, outputTokens } = await lastUsage(result)
        return { calls, text: result.text, inputTokens, outputTokens }
      }
      const errors: unknown[] = []
      const result = streamText({ ...callOptions, onError: ({ error }) => void errors.push(error) })
      const output = await result.text
      if (errors.length > 0) throw asError(errors[0])
      const { inputTokens, outputTokens } = await lastUsage(result)
      return { calls, text: output, inputTokens, outputTokens }
    }

    return { send, converse }
  }

const own = { apiKey: 'x' }

/** A client of the AI SDK's built-in gateway protocol. */
export const createAiGatewayClient = over((fetch) =>
  ai7.createGateway({ ...own, baseURL: 'http://gateway/v4/ai', fetch }),
)
export const createAi6GatewayClient = over(
  (fetch) => ai6.createGateway({ ...own, baseURL: 'http://gateway/v3/ai', fetch }),
  {},
  ai6,
)

export const createAiChatClient = over((fetch) => createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).chat)
export const createAiResponsesClient = over(
  (fetch) => createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).responses,
)
/** Sends everything again, which is necessary if nothing is stored. By default, the client refers to reasoning by ID. */
export const createAiStatelessClient = over(
  (fetch) => createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).responses,
  { openai: { store: false, forceReasoning: true } },
)
export const createAiMessagesClient = over((fetch) => createAnthropic({ ...own, baseURL: 'http://gateway/v1', fetch }))
export const createAiGeminiClient = over((fetch) => createGoogle({ ...own, baseURL: 'http://gateway/v1beta', fetch }))
