import { type ErrorCode, gatewayError } from '../../../errors.ts'

/** Why each error occurs, and how to fix it. `docs/src/content/docs/reference/error-codes.md` has the same table; a test compares them. */
export const errorCodes: Readonly<Record<ErrorCode, readonly [cause: string, fix: string]>> = {
  INVALID_REQUEST: [
    'A field is missing, unknown, invalid, or not supported.',
    'Change the field that the message names.',
  ],
  INVALID_JSON: ['The request body is empty or is not valid JSON.', 'Send a JSON object.'],
  CONTENT_REFUSED: ['A guard rejected the content.', 'Change the content, or ask the operator.'],
  CONTEXT_OVERFLOW: [
    'The prompt exceeds the context window of every target.',
    'Shorten the prompt, or use a model with more context.',
  ],
  FORMAT_MISMATCH: ['The target cannot serve this kind of request.', 'Follow the message.'],
  NAME_INVALID: ['A combo name contains a character that is not allowed.', 'Use letters, numbers, `-`, `_`, and `.`.'],
  NAME_TAKEN: ['Another combo has this name.', 'Choose another name.'],
  IDENTITY_CONFLICT: ['The key or token belongs to another account.', 'Send only one of them.'],
  BUDGET_EXCEEDED: [
    'A daily or longer limit on tokens or dollars is used up.',
    'Wait for the reset, or ask the operator for more.',
  ],
  REQUEST_TOO_EXPENSIVE: [
    'The request may exceed what a limit has left, or its price is unknown.',
    'Lower the output limit, or use a cheaper model.',
  ],
  MANAGEMENT_CLOSED: [
    'The `management` option of `createGateway` is not set.',
    'Set it to allow access to the management API.',
  ],
  MANAGEMENT_UNAUTHORIZED: [
    'The admin token is missing or wrong, or `authorize` denied access.',
    'Send the admin token as `Authorization: Bearer <token>`.',
  ],
  KEY_MISSING: ['The gateway requires an API key.', 'Send the key as `Authorization: Bearer <key>`.'],
  KEY_UNKNOWN: [
    'The API key does not exist, was deleted, or is incomplete.',
    'Check the key, or ask the operator for a new one.',
  ],
  IDENTITY_REQUIRED: ['The app does not know who is asking.', 'Sign in, or send an API key.'],
  KEY_EXPIRED: ['The API key is past its `expiresAt`.', 'Use another key, or ask the operator to extend it.'],
  KEY_PAUSED: ['The API key or its group is paused.', 'Ask the operator to resume it.'],
  TOKEN_INVALID: [
    'The token was changed, or is for another gateway or audience.',
    'Mint a new token for this gateway.',
  ],
  TOKEN_EXPIRED: ['The token is past its `expiresAt`.', 'Mint a new token.'],
  TOKEN_REVOKED: ["The account's tokens were revoked, or it is paused.", 'Sign in again, then mint a new token.'],
  TOKEN_NOT_ALLOWED: ["The page's origin is not one of the token's `origins`.", 'Mint a token for this origin.'],
  MODEL_NOT_ALLOWED: [
    'The API key or its group does not allow this model or kind.',
    'Choose one from `GET /v1/models`, or ask the operator.',
  ],
  NO_COMPLIANT_TARGET: [
    'No connection for the model has the required tags.',
    'Use another model, or ask the operator to add tags.',
  ],
  ACCOUNT_PAUSED: ['The account is paused.', 'Ask the operator to resume it.'],
  ACCOUNT_NOT_ALLOWED: ['The request names another account.', 'Remove the name from the request.'],
  CROSS_SITE: ['A page on another site sent the request.', 'Operators: see `allowedOrigins`.'],
  FORBIDDEN: ['The request is not allowed.', 'Follow the message.'],
  NOT_FOUND: ['The path or the record does not exist.', 'Check the base URL, the path, and the ID.'],
  MODEL_NOT_FOUND: ['The model name is unknown or has no active connection.', 'Choose a model from `GET /v1/models`.'],
  METHOD_NOT_ALLOWED: [
    'The path exists but does not support this HTTP method.',
    'Use a method from the `allow` header.',
  ],
  USAGE_NOT_KEPT: ['The gateway does not record usage.', 'Set the `usage` option of `createGateway` to `true`.'],
  DEFINED_IN_CODE: ['The record or setting is defined in code.', 'Change the options of `createGateway`.'],
  CLOUD_CONFLICT: ['The current state of cloud sync does not allow the action.', 'Follow the message, then repeat it.'],
  REQUEST_TIMEOUT: ['The request body did not arrive in time.', 'Send the request again.'],
  PAYLOAD_TOO_LARGE: [
    'The request body or its files exceed a size limit.',
    'Send less, or ask the operator to raise the limit.',
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    'The request body is compressed, or is not JSON in UTF-8.',
    'Send `content-type: application/json`.',
  ],
  WEBSOCKETS_NOT_SERVED: ['The client tried to open a WebSocket.', 'Send the request over HTTP.'],
  RATE_LIMIT_EXCEEDED: [
    'A limit on requests, concurrency, or recent usage was reached.',
    'Wait as long as `retry-after` says, then retry.',
  ],
  CLIENT_CLOSED_REQUEST: ['The client disconnected before the response was complete.', 'Nothing to fix.'],
  INTERNAL: ['The gateway or a hook has a bug.', 'Operators: `onError` receives the original error.'],
  IDENTITY_INVALID: ['`identify` returned an invalid value.', 'Operators: see `onError`.'],
  BODY_ALREADY_READ: [
    'A body parser read the request body before the gateway.',
    'Mount the gateway before any body parser.',
  ],
  RECORD_DAMAGED: ['A stored record cannot be read.', 'Repair or remove what `GET /api/health` lists.'],
  STORAGE_FAILED: [
    'The storage returned an error, or its data cannot be read.',
    'Operators: `onError` receives the original error.',
  ],
  CALLER_UNUSABLE: ['The stored key, group, or account was changed.', 'Operators: see `onError`.'],
  SECRET_MISMATCH: ['The storage was encrypted with another secret.', 'Start the gateway with that secret.'],
  UPSTREAM_FAILED: [
    'All targets failed. The message has each error.',
    'Retry later, or add another target to the combo.',
  ],
  UPSTREAM_CREDENTIALS: [
    "The provider rejected the connection's API key or account.",
    'Operators: check the key, its credit, and its permissions.',
  ],
  UPSTREAM_INVALID: [
    'The provider returned an empty or invalid response.',
    "Retry. If it persists, check the connection's base URL.",
  ],
  UPSTREAM_UNREACHABLE: [
    'The gateway could not connect to the provider.',
    'Operators: check the base URL, DNS, proxy, and firewall.',
  ],
  UPSTREAM_CUT: ['The provider closed the response before it was complete.', 'Retry.'],
  CLOUD_FAILED: ['The cloud proxy failed or rejected the request.', 'Follow the message.'],
  STORAGE_UNAVAILABLE: ['The storage is unreachable or too slow.', 'Retry in a moment. Operators: check the storage.'],
  ROUTE_FAILED: ['A function that routes requests failed.', 'Retry. Operators: see `onError`.'],
  GUARD_UNAVAILABLE: ['A guard failed or took too long.', 'Retry. Operators: see `onError`.'],
  IDENTITY_UNAVAILABLE: ['`identify` threw an error or timed out.', 'Retry. Operators: see `onError`.'],
  TOO_MANY_NEW_ACCOUNTS: ['Too many new accounts sent requests.', 'Wait as long as `retry-after` says.'],
  DRAINING: ['All connections of the model are draining.', 'Retry later. Operators: add a connection.'],
  TOO_BUSY: [
    'The gateway has reached `limits.maxParallelRequests`.',
    'Wait as long as `retry-after` says, then retry.',
  ],
  CLOSED: ['The gateway is shutting down.', 'Retry; another instance may respond.'],
  UPSTREAM_TIMEOUT: ['No target responded in time.', 'Retry, use a faster model, or raise the timeout.'],
  CLOUD_TIMEOUT: ['The cloud proxy did not respond in time.', 'Try again.'],
}

/** Returns the codes as rows of a Markdown table: code, HTTP status, cause, fix. */
export const formatErrorRows = (): string[] =>
  Object.entries(errorCodes).map(
    ([code, [cause, fix]]) => `| \`${code}\` | ${gatewayError(code as ErrorCode).status} | ${cause} | ${fix} |`,
  )
