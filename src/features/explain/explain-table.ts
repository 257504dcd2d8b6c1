import type { OperationEntries } from '../../admin/operation-table.ts'
import { type Explain, explainInput } from './explain.ts'

export const explainEntry = {
  method: 'POST',
  path: '/api/explain',
  failure: 'explain',
  input: explainInput,
  summary: 'Explain how a request would be routed',
  description: 'The targets of the request, in order. Calls no provider and does not change round-robin positions.',
} satisfies OperationEntries<Explain>
