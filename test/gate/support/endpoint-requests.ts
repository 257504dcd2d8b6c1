import type { Endpoint } from '../../../src/protocols/formats/format.ts'
import { endpoints } from '../../../src/protocols/kinds/kinds.ts'
import { getSample } from '../../kinds/samples.ts'
import { messages } from './world.ts'

/** A request to an endpoint for a response with a maximum number of tokens. */
export interface RequestSpec {
  path: string
  body: Record<string, unknown>
}

/** Builds the smallest request that an endpoint accepts. */
export function createRequest(endpoint: Endpoint, model: string, most?: number): RequestSpec {
  const { path, format, operation } = endpoint
  const sample = getSample(endpoint)
  if (sample)
    return {
      path: path.replace('{model}', model),
      body: { ...(!path.includes('{model}') && { model }), ...sample.body },
    }
  if (format === 'gemini') {
    const config = most === undefined ? {} : { generationConfig: { maxOutputTokens: most } }
    return {
      path: path.replace('{model}', model),
      body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...config },
    }
  }
  if (format === 'ai-sdk') {
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]
    return { path, body: { model, prompt, ...(most && { maxOutputTokens: most }) } }
  }
  if (operation.name === 'complete') return { path, body: { model, prompt: 'Hi', ...(most && { max_tokens: most }) } }
  if (format === 'openai-responses') {
    const limit = most !== undefined && operation.name === 'generate' ? { max_output_tokens: most } : {}
    return { path, body: { model, input: 'Hi', ...limit } }
  }
  return { path, body: { model, messages, max_tokens: most ?? 100 } }
}

/** Returns a model of a provider that uses the endpoint's format, and a model of a provider that uses another format. */
export const getModels = (endpoint: Endpoint): string[] => {
  const { format, operation } = endpoint
  if (operation.kind !== 'llm') return [`other/${operation.kind}`]
  const own = {
    'openai-chat': 'one/m',
    'openai-responses': 'open/r',
    'anthropic-messages': 'claude/c',
    gemini: 'google/g',
    'ai-sdk': 'one/m',
  }
  const other = format === 'anthropic-messages' ? 'one/m' : 'claude/c'
  return operation.name === 'complete' ? [own[format]] : [own[format], other]
}

export const getEndpoint = (path: string): Endpoint => {
  const endpoint = endpoints.find((endpoint) => endpoint.path === path)
  if (!endpoint) throw new Error(`there is no endpoint ${path}`)
  return endpoint
}
