import { fileStorage } from '../../adapters/storage/file.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { assert, suite } from '../support/suite.ts'

const test = suite('options of the storages')

const makers = { fileStorage, memoryStorage }
const PATH = "fileStorage takes the path of a folder of the store's own: fileStorage('./data')."

const refused: Array<[name: keyof typeof makers, given: unknown, says: string]> = [
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
for (const [name, given, says] of refused) {
  test(`${name} refuses ${JSON.stringify(given)}: ${says}`, () => {
    assert.throws(
      () => Reflect.apply(makers[name], undefined, [given]), // as a caller without types would
      (error: unknown) => error instanceof TypeError && error.message === says,
    )
  })
}
