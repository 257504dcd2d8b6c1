import type { Kind } from '../../types.ts'
import type { Endpoint } from '../formats/format.ts'
import { formats } from '../formats/formats.ts'
import { embeddingEndpoints } from './embedding/embedding-endpoints.ts'
import { imageEndpoints } from './image/image-endpoints.ts'
import { moderationEndpoints } from './moderation/moderation-endpoints.ts'
import { ocrEndpoints } from './ocr/ocr-endpoints.ts'
import { rerankEndpoints } from './rerank/rerank-endpoints.ts'
import { speechEndpoints } from './speech/speech-endpoints.ts'
import { transcriptionEndpoints } from './transcription/transcription-endpoints.ts'
import { webFetchEndpoints } from './web-fetch/web-fetch-endpoints.ts'
import { webSearchEndpoints } from './web-search/web-search-endpoints.ts'

/** All endpoints for model requests. */
export const endpoints: readonly Endpoint[] = [
  ...formats.flatMap((format) => format.endpoints), // chat endpoints in all formats
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

/** Finds the endpoint for models of a kind, or returns `undefined` if the gateway doesn't support the kind. */
export const findEndpoint = (kind: Kind): Endpoint | undefined =>
  endpoints.find(({ operation }) => operation.kind === kind || operation.alsoServes?.includes(kind))
