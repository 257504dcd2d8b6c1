import type { Endpoint } from '../formats/format.ts'
import { formats } from '../formats/formats.ts'
import type { Kind } from '../types.ts'
import { embeddingEndpoints } from './embedding/endpoints.ts'
import { imageEndpoints } from './image/endpoints.ts'
import { moderationEndpoints } from './moderation/endpoints.ts'
import { ocrEndpoints } from './ocr/endpoints.ts'
import { rerankEndpoints } from './rerank/endpoints.ts'
import { speechEndpoints } from './speech/endpoints.ts'
import { transcriptionEndpoints } from './transcription/endpoints.ts'
import { webFetchEndpoints } from './web-fetch/endpoints.ts'
import { webSearchEndpoints } from './web-search/endpoints.ts'

/** All endpoints of model requests, a line for each kind: `http/` serves them, and requests are read and carried by what they say. */
export const endpoints: readonly Endpoint[] = [
  ...formats.flatMap((format) => format.endpoints), // chat, which has a form for each format
  ...embeddingEndpoints,
  ...imageEndpoints,
  ...rerankEndpoints,
  ...moderationEndpoints,
  ...webSearchEndpoints,
  ...webFetchEndpoints,
  ...speechEndpoints,
  ...transcriptionEndpoints,
  ...ocrEndpoints,
]

/** The endpoint that models of a kind are asked at; `undefined` for a kind that is not served. */
export const endpointOf = (kind: Kind): Endpoint | undefined =>
  endpoints.find(({ operation }) => operation.kind === kind || operation.alsoServes?.includes(kind))
