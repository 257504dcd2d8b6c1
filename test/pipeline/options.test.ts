import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createGateway } from '../../src/gateway.ts'
import { assert, suite } from '../support/suite.ts'

/** As a caller without types would. */
const make = (options: unknown) => Reflect.apply(createGateway, undefined, [options])
const storage = memoryStorage()

const refused: Array<[options: unknown, says: RegExp]> = [
  [undefined, /takes an object of options/],
  [{}, /storage is missing.*memoryStorage/],
  [{ storage: { get() {}, set() {}, list() {} } }, /storage must have get\(\), set\(\), delete\(\) and list\(\)/],
  [{ storage, basepath: '/x' }, /basepath is not an option.*basePath/],
  [{ storage, basePath: 5 }, /basePath must be text/],
  [{ storage, basePath: 'a b' }, /basePath must look like/],
  [{ storage, allowedOrigins: 'https://app.example' }, /allowedOrigins must be a list of origins/],
  [{ storage, allowedOrigins: ['*'] }, /allowedOrigins: "\*" is not an origin\. Name each page's own/],
  [{ storage, allowedOrigins: ['https://app.example/'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['https://app.example:443'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['https://App.example'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['https://*.example'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['moz-extension://a@b'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['app.example'] }, /is not an origin/],
  [{ storage, allowedOrigins: ['null'] }, /is not an origin/],
  [{ storage, allowedOrigins: [undefined] }, /allowedOrigins: undefined is not an origin/],
  [{ storage, fetchMedia: 'no' }, /fetchMedia must be true or false/],
  [{ storage, askForUsage: 1 }, /askForUsage must be true or false/],
  [{ storage, strict: 'yes' }, /strict must be true or false/],
  [{ storage, sharedState: null }, /sharedState must be true or false/],
  [{ storage, catalog: null }, /catalog must be an object/],
  [{ storage, catalog: [] }, /catalog must be an object/],
  [{ storage, catalog: { mine: null } }, /catalog\.mine must be an object/],
  [{ storage, catalog: { mine: { baseURL: 'http://x' } } }, /catalog\.mine\.baseURL is no field.*"baseUrl"/],
  [{ storage, catalog: { mine: { models: ['m'] } } }, /catalog\.mine\.models\[0\] must be an object/],
  [{ storage, secret: '' }, /secret must be text that is not empty/],
  [{ storage, secret: [] }, /secret must be text/],
  [{ storage, secret: 5 }, /secret must be text/],
  [
    { storage, secret: 'x'.repeat(31) },
    /32 characters or more, such as .*; this one has 31\. Data sealed with it opens with/,
  ],
  [{ storage, secret: [{ version: 1, value: 'short' }] }, /32 characters or more, such as .*; this one has 5\.$/],
  [{ storage, secret: [{ version: 1, value: '' }] }, /secret must be text/],
  [{ storage, secret: [{ version: 2, value: 'x'.repeat(32) }, {}] }, /secret must be text/],
  [{ storage, cloud: 'x' }, /cloud must be an object of options: enrolment, allowHttp/],
  [{ storage, cloud: { enrollment: 'x'.repeat(32) } }, /cloud\.enrollment is not an option.*enrolment/],
  [
    { storage, cloud: { enrolment: 'x'.repeat(31) } },
    /cloud\.enrolment must be the enrolment credential.*32 characters/,
  ],
  [{ storage, cloud: { enrolment: 5 } }, /cloud\.enrolment must be the enrolment credential/],
  [{ storage, cloud: { allowHttp: 'yes' } }, /cloud\.allowHttp must be true or false/],
  [{ storage, logger: true }, /logger must have/],
  [{ storage, logger: {} }, /logger must have/],
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
  [{ storage, limits: { silenceTimeoutMs: Number.NaN } }, /^limits\.silenceTimeoutMs must be a number above 0\.$/],
  [{ storage, management: {} }, /exactly one of/],
]

const test = suite('options')

for (const [options, says] of refused) {
  test(`${JSON.stringify(options)?.slice(0, 60)} is refused at once with what to pass: ${says.source}`, () => {
    assert.throws(
      () => make(options),
      (error: unknown) => error instanceof TypeError && says.test(error.message),
    )
  })
}

test('a secret of 32 characters seals, and a shorter one may stand behind it to open what it has sealed', () => {
  make({ storage, secret: 'x'.repeat(32) })
  make({
    storage,
    secret: [
      { version: 2, value: 'x'.repeat(32) },
      { version: 1, value: 'short' },
    ],
  })
})

test('what is given explicitly as undefined counts as absent', () => {
  make({
    storage,
    clock: undefined,
    logger: undefined,
    hooks: { onUsage: undefined },
    limits: undefined,
    secret: undefined,
  })
})
