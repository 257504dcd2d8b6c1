import { isObject } from '../../lib/json.ts'
import { objectText } from '../canonical/arguments.ts'

/**
 * Reads the input of a tool out of the pieces of its JSON. The object in a block's start is a placeholder, except with vendors that send no
 * pieces; so is a first piece `{}` when more follows.
 */
export function createInputReader(
  start: unknown,
  tell: (more: string) => void,
): { add(piece: string): void; end(): void } {
  let isSaid = false
  let isHeld = false

  return {
    add(piece) {
      if (piece === '') return
      if (!isSaid && !isHeld && piece === '{}') {
        isHeld = true
        return
      }
      if (isHeld && !piece.trimStart().startsWith('{')) tell('{}')
      isHeld = false
      isSaid = true
      tell(piece)
    },
    end() {
      if (isHeld) tell('{}')
      else if (!isSaid && isObject(start) && Object.keys(start).length > 0) tell(objectText(start))
    },
  }
}
