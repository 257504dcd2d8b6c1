import type { ClientFormat, Kind, ProviderFormat, WireFormat } from './catalog.ts'
import type { AnswerCondition, Strategy } from './combo.ts'

/* The members of unions whose names users write. Written as records, so that the compiler demands each new member here. */

/** Every kind. */
export const kinds = membersOf<Kind>({
  llm: true,
  image: true,
  tts: true,
  stt: true,
  embedding: true,
  imageToText: true,
  webSearch: true,
  webFetch: true,
  rerank: true,
  moderation: true,
})

/** Every strategy. */
export const strategies = membersOf<Strategy>({
  fallback: true,
  'round-robin': true,
  weighted: true,
  random: true,
  'least-latency': true,
  'least-cost': true,
  'least-busy': true,
  sticky: true,
  conditional: true,
})

/** Every answer after which a combo may go on. */
export const answerConditions = membersOf<AnswerCondition>({ content: true, schema: true })

/** Every format that both clients and providers speak. */
export const wireFormats = membersOf<WireFormat>({
  'openai-chat': true,
  'openai-responses': true,
  'anthropic-messages': true,
  gemini: true,
})

/** Every format that clients speak. */
export const clientFormats: readonly ClientFormat[] = [
  ...wireFormats,
  ...membersOf<Exclude<ClientFormat, WireFormat>>({ 'ai-sdk': true }),
]

/** Every format that providers speak: those of both, and those that no client speaks. */
export const providerFormats: readonly ProviderFormat[] = [
  ...wireFormats,
  ...membersOf<Exclude<ProviderFormat, WireFormat>>({ 'bedrock-converse': true }),
]

/**
 * What the `format` of a connection may say besides: how a server that the catalog does not know is asked for anything but chat. The forms
 * themselves are in src/kinds.
 */
export const vendorForms = [
  'brave',
  'cohere',
  'deepgram',
  'elevenlabs',
  'exa',
  'firecrawl',
  'jina',
  'mistral',
  'nvidia',
  'perplexity',
  'searxng',
  'serper',
  'tavily',
  'tei',
  'together',
  'voyage',
] as const

/** One of these forms. */
export type VendorFormName = (typeof vendorForms)[number]

/** The members of a union, in the order of the record, which the compiler refuses unless it names each of them. */
/* @__NO_SIDE_EFFECTS__ */
export function membersOf<Union extends string>(members: Record<Union, true>): readonly Union[] {
  return Object.keys(members) as Union[] // the record has no other keys
}
