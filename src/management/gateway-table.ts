import type { OperationEntries } from '../admin/operation-table.ts'
import type { Management } from './operations.ts'

export const gatewayTable = {
  overview: {
    method: 'GET',
    path: '/api/overview',
    failure: 'fetch the overview',
    summary: 'Get a summary for operators',
    description:
      'Hourly totals and the totals of the day before, the latest failed requests, recent failures, and the numbers of keys and connections.',
  },
  info: {
    method: 'GET',
    path: '/api/info',
    failure: 'describe the gateway',
    summary: 'Get information about the gateway',
    description:
      'Its version, runtime, and storage, how many records it has, and how many model requests are in flight.',
  },
  openapi: {
    method: 'GET',
    path: '/api/openapi.json',
    failure: 'describe the API',
    summary: 'Get this document',
  },
} satisfies OperationEntries<Pick<Management, 'overview' | 'info' | 'openapi'>>
