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

/** Sample requests for tests that cover all endpoints, with an OpenAI-compatible provider's responses. */
export interface KindSample {
  /** Bodies by client format, without the model name. */
  readonly bodies: Readonly<Record<string, object>>
  /** The provider's path below its base URL, and its response. */
  readonly path: string
  readonly response: object | Response
}

/** The samples by operation name, one line per kind. */
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

/** Returns the sample for an endpoint of a kind with its own formats, or `undefined` for chat. Throws if a sample is missing. */
export function getSample(endpoint: Endpoint): { body: object } | undefined {
  if (!hasAdapters(endpoint)) return undefined
  const body = samples[endpoint.operation.name]?.bodies[endpoint.client]
  if (!body) throw new Error(`test/kinds/samples.ts has no body for ${endpoint.path}`)
  return { body }
}

/** Returns a provider's response at this path, or `undefined` for chat. */
export function answerAt(path: string): Response | undefined {
  const response = findSample(path)
  return response instanceof Response ? response.clone() : response && json(response)
}

/** Returns the response as JSON, or an empty object if it isn't JSON. */
export function getJson(path: string): object | undefined {
  const response = findSample(path)
  return response instanceof Response ? {} : response
}

const findSample = (path: string) =>
  Object.values(samples).find((sample) =>
    sample.path.endsWith('/') ? path.includes(sample.path) : path.endsWith(sample.path),
  )?.response
