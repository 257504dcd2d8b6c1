import { listParameters, type OperationEntries } from '../../../admin/operation-table.ts'
import { type UsageOperations, usageInputs } from './usage-operations.ts'

/** Descriptions of the filters. */
const filterParameters = {
  from: 'Start: an ISO 8601 time with a time zone, or a UTC date. Default: 24 hours before `to` for totals, all stored requests for requests.',
  to: 'End (exclusive), like `from`. Default: now.',
  keyId: 'Only requests with this API key; empty: without a key. Other string filters can also be empty.',
  groupId: 'Only requests with a key of this group.',
  account: 'Only requests of this account of your app, by its id or its ref.',
  model: 'Only requests for this model name.',
  user: 'Only requests of this end user, as named by clients. Totals have it only for requests without an account.',
  provider: 'Only requests that called this provider.',
  target: 'Only requests that called this provider and model: `<provider>/<model>`.',
  connectionId: 'Only requests that used this connection.',
  order: 'Sort order of rows with the same time. Default `cost`.',
}

export const usageTable = {
  summary: {
    method: 'GET',
    path: '/api/usage',
    failure: 'sum up usage',
    input: usageInputs.summary,
    exports: 'rows',
    summary: 'Aggregate usage',
    description:
      'Requests, tokens, costs, and latency percentiles, grouped by `by`. Also as `text/csv` and `application/jsonl`, rows only.',
    parameters: {
      ...filterParameters,
      by: 'How to group totals, comma-separated: `key`, `group`, `account`, `model`, `target`, `user`, `hour`, `day`, `month`. Default `key`. `hour` covers at most 32 days.',
      top: 'Maximum number of rows. A last row, whose `others` is their number, sums up the rest. Not with a time in `by`.',
      series: 'Adds `series`: the first ten rows per hour or day, and the sum of all others. Not with a time in `by`.',
      compare: '`before`: adds the totals of the preceding period of the same length.',
      names:
        'Adds `names`: the names of the keys and groups in the rows and the query, by id, and the names of up to 1,000 accounts, by ref.',
    },
    errors: [409],
  },
  requests: {
    method: 'GET',
    path: '/api/usage/requests',
    failure: 'list requests',
    input: usageInputs.requests,
    exports: 'requests',
    summary: 'List requests',
    description:
      'Newest first, or by `sort` and `order`. A page may have fewer than `limit`; if it has `before`, there are more. As `text/csv` and `application/jsonl`, all requests are sent without a `limit`; with one, the header `x-signalbox-before` contains `before`. `missing`, or the header `x-signalbox-missing`, is the number of requests in the time range that are counted in the totals but have no record.',
    parameters: {
      ...filterParameters,
      ...listParameters,
      status: 'Only requests with this HTTP status.',
      end: 'Only requests that ended like this.',
      error: 'Only requests with this error code, such as `KEY_PAUSED`.',
      endpoint: 'Only requests to this endpoint, such as `/v1/messages`.',
      sort: 'Default `time`.',
      order: 'Default `desc`.',
    },
    errors: [409],
  },
  request: {
    method: 'GET',
    path: '/api/usage/requests/:id',
    failure: 'fetch request',
    exports: 'request',
    summary: 'Get a request',
    description: 'By the id in its `x-signalbox-request-id` header. Also as `text/csv` and `application/jsonl`.',
    errors: [409],
  },
  keys: {
    method: 'GET',
    path: '/api/usage/keys',
    failure: 'fetch the usage of keys',
    input: usageInputs.keys,
    summary: 'Get the usage of keys',
    description:
      'Requests and costs of this month (UTC), the used share of each limit, and the time of the latest request, for up to 100 keys.',
    parameters: { ids: 'The ids of the keys, comma-separated; unknown ones are ignored.' },
  },
} satisfies OperationEntries<UsageOperations>
