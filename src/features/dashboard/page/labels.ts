import type { Kind } from '../../../types/catalog-types.ts'
import type { StoredEnd } from '../../usage/request-record.ts'

export const kindLabels: Readonly<Record<Kind, string>> = {
  llm: 'Chat',
  image: 'Images',
  tts: 'Text to speech',
  stt: 'Transcription',
  embedding: 'Embeddings',
  imageToText: 'Image to text',
  webSearch: 'Web search',
  webFetch: 'Web fetch',
  rerank: 'Rerank',
  moderation: 'Moderation',
}

/** Labels for an unhealthy target's states. */
export const healthLabels = {
  counting: 'Failing',
  cooling: 'Cooling down',
  'half-open': 'Ready to retry',
  probing: 'Retrying',
} as const

/** Labels for attempt outcomes and skip reasons whose codes aren't plain English. */
const outcomeLabels: Readonly<Record<string, string>> = {
  client: 'invalid request',
  content: 'invalid response',
  credentials: 'invalid credentials',
  filtered: 'content filter',
  format: 'unsupported by its format',
  internal: 'gateway error',
  network: 'network error',
  outrun: 'lost the hedging race',
  refused: 'blocked by a limit',
  schema: 'schema mismatch',
  server: 'server error',
  cancelled: 'canceled',
}

export const getOutcomeLabel = (outcome: string): string =>
  outcome.startsWith('when.')
    ? `condition not met (${outcome})`
    : (outcomeLabels[outcome] ?? outcome.replaceAll('-', ' '))

/** Labels for how requests end. */
export const endLabels: Readonly<Record<StoredEnd, string>> = {
  complete: 'Completed',
  aborted: 'Client disconnected',
  cut: 'Interrupted',
  failed: 'Failed',
  refused: 'Rejected',
}
