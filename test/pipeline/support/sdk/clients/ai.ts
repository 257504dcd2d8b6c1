import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, jsonSchema, type LanguageModel, streamText, tool } from 'ai'
import { type Heard, QUESTION, weather, weatherIn } from '../conversation.ts'
import { type Client, type CreateClient, listen, MAX_STEPS, type Manner } from './client.ts'

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false }) // it knows no model of this name

/** The AI SDK over the provider that makes its models. */
const over =
  (
    modelsOf: (fetch: typeof globalThis.fetch) => (model: string) => LanguageModel,
    providerOptions: Record<string, Record<string, boolean>> = {},
  ): CreateClient =>
  (fetch) => {
    const modelOf = modelsOf(fetch)

    const ask: Client['ask'] = async (model, { stream, signal: abortSignal, onText }) => {
      const asked = { model: modelOf(model), prompt: QUESTION, maxRetries: 0, ...(abortSignal && { abortSignal }) }
      if (!stream) return (await generateText(asked)).text
      const errors: unknown[] = []
      const { textStream } = streamText({ ...asked, onError: ({ error }) => void errors.push(error) })
      const text = await listen(textStream, (piece) => piece, onText)
      if (errors.length > 0) throw errors[0]
      abortSignal?.throwIfAborted() // a stream that is left ends without an error
      return text
    }

    async function converse(model: string, { stream }: Manner): Promise<Heard> {
      const calls: Heard['calls'] = []
      const asked = {
        model: modelOf(model),
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
              return weatherIn(city)
            },
          }),
        },
      }
      if (!stream) {
        const { text, finalStep } = await generateText(asked)
        const { inputTokens, outputTokens } = finalStep.usage
        return { calls, text, inputTokens, outputTokens }
      }
      const errors: unknown[] = []
      const { text, finalStep } = streamText({ ...asked, onError: ({ error }) => void errors.push(error) })
      const said = await text
      if (errors.length > 0) throw errors[0]
      const { inputTokens, outputTokens } = (await finalStep).usage
      return { calls, text: said, inputTokens, outputTokens }
    }

    return { ask, converse }
  }

const own = { apiKey: 'x' }

export const createAiChatClient = over((fetch) => createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).chat)
export const createAiResponsesClient = over(
  (fetch) => createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).responses,
)
/** Sends everything again, as it has to where nothing is stored; without this it refers to thoughts by their ids. */
export const createAiStatelessClient = over(
  (fetch) => createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).responses,
  { openai: { store: false, forceReasoning: true } },
)
export const createAiMessagesClient = over((fetch) => createAnthropic({ ...own, baseURL: 'http://gateway/v1', fetch }))
export const createAiGeminiClient = over((fetch) => createGoogle({ ...own, baseURL: 'http://gateway/v1beta', fetch }))
