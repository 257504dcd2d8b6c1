import type { AuthStyle, Cloud, ProviderFormat } from '../types.ts'

/*
 * The members of the unions that only catalogs name. Written as records, so that a new member fails the compiler here until it is named.
 */

export const providerFormats: Readonly<Record<ProviderFormat, true>> = {
  'openai-chat': true,
  'openai-responses': true,
  'anthropic-messages': true,
  gemini: true,
  'bedrock-converse': true,
}

export const authStyles: Readonly<Record<AuthStyle, true>> = {
  bearer: true,
  'x-api-key': true,
  'x-goog-api-key': true,
  'api-key': true,
}

export const clouds: Readonly<Record<Cloud, true>> = { azure: true, bedrock: true, vertex: true }
