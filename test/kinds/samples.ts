import type { Endpoint } from '../../src/protocols/formats/format.ts'
import { hasAdapters } from '../../src/protocols/kinds/endpoint.ts'
import { json } from '../pipeline/support/upstream.ts'
import { embedding } from './embedding/sample.ts'
import { image } from './image/sample.ts'
import { moderation } from './moderation/sample.ts'
import { rerank } from './rerank/sample.ts'
import { speech } from './speech/sample.ts'
import { ocr, transcription, translation } from './transcription/sample.ts'
import { fetch, search } from './web/samples.ts'

/** Sample requests for tests that cover all endpoints, and the responses of a provider in OpenAI's format. */
export interface KindSample {
  /** The bodies by the forms of clients, without a model's name. */
  readonly bodies: Readonly<Record<string, object>>
  /** The path of the provider, below its base URL, and its response. */
  readonly path: string
  readonly response: object | Response
}

/** By the names of operations: a line for each kind. */
const samples: Readonly<Record<string, KindSample>> = {
  embed: embedding,
  image,
  rerank,
  moderate: moderation,
  search,
  fetch,
  speak: speech,
  transcribe: transcription,
  translate: translation,
  ocr,
}

/** The sample for an endpoint of a kind with its own formats, or `undefined` for chat. Throws if the table has none. */
export function sampleOf(endpoint: Endpoint): { body: object } | undefined {
  if (!hasAdapters(endpoint)) return undefined
  const body = samples[endpoint.operation.name]?.bodies[endpoint.client]
  if (!body) throw new Error(`test/kinds/samples.ts has no body for ${endpoint.path}`)
  return { body }
}

/** A provider's response at this path; `undefined` for chat. */
export function answerAt(path: string): Response | undefined {
  const response = answerIn(path)
  return response instanceof Response ? response.clone() : response && json(response)
}

/** The same where it is JSON; an empty object where it is not. */
export function jsonAt(path: string): object | undefined {
  const response = answerIn(path)
  return response instanceof Response ? {} : response
}

const answerIn = (path: string) =>
  Object.values(samples).find((sample) =>
    sample.path.endsWith('/') ? path.includes(sample.path) : path.endsWith(sample.path),
  )?.response
