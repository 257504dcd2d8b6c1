import type Anthropic from '@anthropic-ai/sdk'
import type {
  WireBlock,
  WireCountRequest,
  WireEvent,
  WireMessage,
  WireRequest,
  WireText,
} from '../../../src/formats/anthropic-messages/wire.ts'
import { assert, suite } from '../../support/suite.ts'

/** Compiles only if what the writers of this format produce is what Anthropic's own client takes. */
type Fits<_Ours extends Theirs, Theirs> = true

/** The client's types count on `citations`, which Anthropic's own answers leave out where a text cites nothing. */
type Whole = Omit<WireMessage, 'content'> & { content: (Exclude<WireBlock, WireText> | Required<WireText>)[] }

const fits: [
  Fits<Whole, Anthropic.Message>,
  Fits<WireEvent, Anthropic.RawMessageStreamEvent>,
  Fits<WireRequest, Anthropic.MessageCreateParams>,
  Fits<WireCountRequest, Anthropic.MessageCountTokensParams>,
] = [true, true, true, true]

const test = suite('the types of messages')

test("the types of messages are those of Anthropic's own client", () => assert.ok(fits.every(Boolean)))
