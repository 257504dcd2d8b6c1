import type Anthropic from '@anthropic-ai/sdk'
import type {
  WireBlock,
  WireCountRequest,
  WireEvent,
  WireMessage,
  WireRequest,
  WireText,
} from '../../../src/protocols/formats/anthropic-messages/anthropic-wire.ts'
import { assert, suite } from '../../support/suite.ts'

/** Compiles only if Anthropic's client accepts everything that the writers of this format produce. */
type Fits<_Ours extends Theirs, Theirs> = true

/** The client's types require `citations`, which Anthropic's own responses omit from text without citations. */
type Full = Omit<WireMessage, 'content'> & { content: (Exclude<WireBlock, WireText> | Required<WireText>)[] }

const fits: [
  Fits<Full, Anthropic.Message>,
  Fits<WireEvent, Anthropic.RawMessageStreamEvent>,
  Fits<WireRequest, Anthropic.MessageCreateParams>,
  Fits<WireCountRequest, Anthropic.MessageCountTokensParams>,
] = [true, true, true, true]

const test = suite('Messages types')

test("the Messages types match Anthropic's client library", () => assert.ok(fits.every(Boolean)))
