import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

/** Creates a gateway with arbitrary options, like an untyped caller. */
const make = (options: unknown) => Reflect.apply(createGateway, undefined, [options])
const storage = memoryStorage()

const rejected: Array<[options: unknown, says: RegExp]> = [
  [undefined, /takes an options object/],
  [{ storage: undefined }, /storage is undefined.*memoryStorage/],
  [{ storage: { get() {}, set() {}, list() {} } }, /storage must have get\(\), set\(\), delete\(\), and list\(\)/],
  [{ storage, basepath: '/x' }, /basepath is not an option.*basePath/],
  [{ storage, basePath: 5 }, /basePath must be a string/],
  [{ storage, basePath: 'a b' }, /basePath must look like/],
  [{ storage, allowedOrigins: 'https://app.example' }, /allowedOrigins must be an array of origins/],
  [{ storage, allowedOrigins: ['*'] }, /allowedOrigins: "\*" is not an origin\. List each page's origin/],
  [{ storage, allowedOrigins: ['https://app.example/'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['https://app.example:443'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['https://App.example'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['https://*.example'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['moz-extension://a@b'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['app.example'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['null'] }, /is not an origin/],
  [{ storage, allowedOrigins: [undefined] }, /allowedOrigins: undefined is not an origin/],
  [{ storage, fetchMedia: 'no' }, /fetchMedia must be true or false/],
  [{ storage, includeStreamUsage: 1 }, /includeStreamUsage must be true or false/],
  [{ storage, strict: 'yes' }, /strict must be true or false/],
  [{ storage, sharedState: null }, /sharedState must be true or false/],
  [{ storage, catalog: null }, /catalog must be an object/],
  [{ storage, catalog: [] }, /catalog must be an object/],
  [{ storage, catalog: { mine: null } }, /catalog\.mine must be an object/],
  [
    { storage, catalog: { mine: { baseURL: 'http://x' } } },
    /catalog\.mine\.baseURL is not a provider field.*"baseUrl"/,
  ],
  [{ storage, catalog: { mine: { models: ['m'] } } }, /catalog\.mine\.models\[0\] must be an object/],
  [{ storage, secret: '' }, /secret must be a non-empty string/],
  [{ storage, secret: [] }, /secret must be a non-empty string/],
  [{ storage, secret: 5 }, /secret must be a non-empty string/],
  [
    { storage, secret: 'x'.repeat(31) },
    /at least 32 characters, such as .* This one has 31\. To keep reading data encrypted with it, pass/,
  ],
  [{ storage, secret: [{ version: 1, value: 'short' }] }, /at least 32 characters, such as .* This one has 5\.$/],
  [{ storage, secret: [{ version: 1, value: '' }] }, /secret must be a non-empty string/],
  [{ storage, secret: [{ version: 2, value: 'x'.repeat(32) }, {}] }, /secret must be a non-empty string/],
  [{ storage, cloud: 'x' }, /cloud must be an object with enrollmentToken, allowHttp/],
  [{ storage, cloud: { enrollment: 'x'.repeat(32) } }, /cloud\.enrollment is not an option.*enrollmentToken/],
  [
    { storage, cloud: { enrollmentToken: 'x'.repeat(31) } },
    /cloud\.enrollmentToken must be the enrollment token.*32 characters/,
  ],
  [{ storage, cloud: { enrollmentToken: 5 } }, /cloud\.enrollmentToken must be the enrollment token/],
  [{ storage, cloud: { allowHttp: 'yes' } }, /cloud\.allowHttp must be true or false/],
  [{ storage, logger: true }, /logger must be false or have/],
  [{ storage, logger: {} }, /logger must be false or have/],
  [{ storage, clock: { now: Date.now } }, /clock must have/],
  [{ storage, fetch: 'x' }, /fetch must be a function/],
  [{ storage, hooks: { onRequests() {} } }, /hooks.onRequests is not an option.*onRequest/],
  [{ storage, hooks: { onRequest: 5 } }, /hooks.onRequest must be a function/],
  [{ storage, limits: null }, /limits must be an object/],
  [{ storage, limits: { maxBodyByte: 1 } }, /limits.maxBodyByte is not an option.*maxBodyBytes/],
  [{ storage, limits: { maxBodyBytes: -1 } }, /above 0/],
  [{ storage, limits: { maxAttempts: 1.5 } }, /^limits\.maxAttempts must be a whole number above 0\.$/],
  [{ storage, limits: { maxAttempts: 0 } }, /^limits\.maxAttempts must be a whole number above 0\.$/],
  [{ storage, limits: { maxAttempts: -1 } }, /^limits\.maxAttempts must be a whole number above 0\.$/],
  [{ storage, limits: { maxAttempts: Number.NaN } }, /^limits\.maxAttempts must be a whole number above 0\.$/],
  [{ storage, limits: { maxAttempts: '3' } }, /^limits\.maxAttempts must be a whole number above 0\.$/],
  [{ storage, limits: { maxBodyBytes: 0.5 } }, /^limits\.maxBodyBytes must be a whole number above 0\.$/],
  [{ storage, limits: { idleTimeoutMs: Number.NaN } }, /^limits\.idleTimeoutMs must be a number above 0\.$/],
  [{ storage, management: {} }, /exactly one of/],
]

const renamed: Array<[options: object, oldName: string, newName: string]> = [
  [{ limits: { maxConcurrent: 5 } }, 'limits.maxConcurrent', 'limits.maxParallelRequests'],
  [{ limits: { silenceTimeoutMs: 5 } }, 'limits.silenceTimeoutMs', 'limits.idleTimeoutMs'],
  [{ limits: { maxAnswerBytes: 5 } }, 'limits.maxAnswerBytes', 'limits.maxResponseBytes'],
  [{ askForUsage: false }, 'askForUsage', 'includeStreamUsage'],
  [{ cloud: { enrolment: 'x'.repeat(32) } }, 'cloud.enrolment', 'cloud.enrollmentToken'],
]

const test = suite('options')

for (const [options, message] of rejected) {
  test(`createGateway rejects invalid options with advice: ${message.source}`, () => {
    assert.throws(
      () => make(options),
      (error: unknown) => error instanceof TypeError && message.test(error.message),
    )
  })
}

for (const [options, oldName, newName] of renamed) {
  test(`the old option ${oldName} is rejected with the name ${newName}`, () => {
    assert.throws(
      () => make({ storage, ...options }),
      (error: unknown) => error instanceof TypeError && error.message === `${oldName} was renamed. Use ${newName}.`,
    )
  })
}

test('an older decryption secret may have fewer than 32 characters', () => {
  make({ storage, secret: 'x'.repeat(32) })
  make({
    storage,
    secret: [
      { version: 2, value: 'x'.repeat(32) },
      { version: 1, value: 'short' },
    ],
  })
})

test('explicitly undefined options are treated as absent', () => {
  make({
    storage,
    clock: undefined,
    logger: undefined,
    hooks: { onUsage: undefined },
    limits: undefined,
    secret: undefined,
  })
})
