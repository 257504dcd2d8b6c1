import process from 'node:process'
import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('storage options')

const makers = { fileStorage, memoryStorage }
const PATH = "fileStorage takes the path of a folder used only for the store: fileStorage('./data')."

const rejected: Array<[name: keyof typeof makers, given: unknown, says: string]> = [
  ['fileStorage', undefined, PATH],
  ['fileStorage', '', PATH],
  ['fileStorage', ' ', PATH],
  ['fileStorage', 5, PATH],
  ['fileStorage', {}, PATH],
  ['fileStorage', null, 'The options must be an object.'],
  [
    'fileStorage',
    { pth: './data' },
    'pth is not an option. Known: path, clock, logger, lockStaleMs, lockTimeoutMs, pollMs.',
  ],
  ['memoryStorage', { clok: {} }, 'clok is not an option. Known: clock.'],
  ['memoryStorage', null, 'The options must be an object.'],
]
for (const [name, input, message] of rejected) {
  test(`${name} rejects ${JSON.stringify(input)}: ${message}`, () => {
    assert.throws(
      () => Reflect.apply(makers[name], undefined, [input]), // like a caller without types
      (error: unknown) => error instanceof TypeError && error.message === message,
    )
  })
}

for (const version of ['20.20.2', '22.12.0'])
  test(`the error from fileStorage on Node ${version} states the required version`, () => {
    const { versions } = process
    Object.defineProperty(process, 'versions', { value: { ...versions, node: version }, configurable: true })
    try {
      assert.throws(
        () => fileStorage('./data'),
        (error: Error & { code?: string }) =>
          error.code === 'STORAGE_UNSUPPORTED' &&
          error.message.startsWith(
            `fileStorage needs Node 22.13 or later, which includes SQLite. This is Node ${version}.`,
          ),
      )
    } finally {
      Object.defineProperty(process, 'versions', { value: versions, configurable: true })
    }
  })
