import { tokenCount } from '../../formats/canonical/values.ts'
import { isObject } from '../../lib/json.ts'
import { kindForms } from '../carry.ts'
import type { ClientForm, Used, VendorForm } from '../forms.ts'

/** Nothing of a request for a document is translated. */
type DocumentRequest = Readonly<Record<never, never>>

const mistralClient: ClientForm<DocumentRequest, Used> = {
  read({ document }, { warnings }) {
    return isObject(document)
      ? {}
      : warnings.refuse('document', 'is required: an object with the document or its address.')
  },
  write() {
    throw new TypeError('The text of a document is passed on as it comes.')
  },
}

/** https://docs.mistral.ai/api/endpoint/ocr, and servers of its form. */
const mistral: VendorForm<DocumentRequest, Used> = {
  name: 'mistral',
  passes: [{ client: 'mistral', path: () => '/ocr' }],
  request() {
    throw new TypeError('Requests for documents are passed on.')
  },
  answer({ pages, model, usage_info: usage }) {
    if (!Array.isArray(pages)) return 'pages'
    const count = isObject(usage) ? tokenCount(usage.pages_processed) : pages.length
    return {
      ...(typeof model === 'string' && { model }),
      usage: { inputTokens: 0, outputTokens: 0, units: { page: count } },
    }
  },
}

/** The forms of reading documents. */
export const ocrForms = kindForms({ clients: { mistral: mistralClient }, vendors: [], otherwise: mistral })
