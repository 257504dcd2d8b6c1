import { isObject } from '../../../lib/json.ts'
import { readTokenCount } from '../../formats/canonical/canonical-values.ts'
import { createKindAdapters } from '../create-kind-adapters.ts'
import type { ClientAdapter, KindResponse, VendorAdapter } from '../kind-adapters.ts'

/** OCR requests are never translated. */
type DocumentRequest = Readonly<Record<never, never>>

const mistralClient: ClientAdapter<DocumentRequest, KindResponse> = {
  read({ document }, { warnings }) {
    return isObject(document) ? {} : warnings.reject('document', 'is required: an object with the document or its URL.')
  },
  write() {
    throw new TypeError('The text of a document is passed on as it comes.')
  },
}

/** https://docs.mistral.ai/api/endpoint/ocr, and compatible servers. */
const mistral: VendorAdapter<DocumentRequest, KindResponse> = {
  name: 'mistral',
  passThrough: [{ client: 'mistral', path: () => '/ocr' }],
  writeRequest() {
    throw new TypeError('Requests for documents are passed on.')
  },
  readResponse({ pages, model, usage_info: usage }) {
    if (!Array.isArray(pages)) return 'pages'
    const reported = isObject(usage) ? readTokenCount(usage.pages_processed) : 0
    const isEstimated = isObject(usage) && reported === 0 && pages.length > 0
    return {
      ...(typeof model === 'string' && { model }),
      usage: {
        ...{ inputTokens: 0, outputTokens: 0, units: { page: reported || pages.length } },
        ...(isEstimated && { isEstimated }),
      },
    }
  },
}

/** The adapters for extracting text from documents. */
export const ocrAdapters = createKindAdapters({ clients: { mistral: mistralClient }, vendors: [], fallback: mistral })
