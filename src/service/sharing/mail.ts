// Sends e-mails over SMTP.
import type { Transporter } from '../../vendor/mail.ts'

export interface Message {
  to: string
  subject: string
  text: string
  html?: string
  attachments?: { filename: string; content: Buffer; cid: string }[]
  /** The same for a repeated message. */
  messageId?: string
}

const EMAIL_PATTERN =
  /^[^\s@"<>(),:;\\[\]\u0000-\u001f\u007f]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?$/

/** Returns whether a text is a single e-mail address, without a name. */
export function isEmailAddress(text: string): boolean {
  return EMAIL_PATTERN.test(text)
}

/**
 * Timeouts of the mail server: for connecting and for its greeting, and for each answer, in ms. It may check a message
 * for a while before it accepts it.
 */
const TIMEOUTS = { connectMs: 15_000, answerMs: 90_000 }

const UNREACHABLE = 'the mail server of this server cannot be reached'

/** Texts for the codes of nodemailer. */
const SMTP_ERRORS: Readonly<Record<string, string>> = {
  ECONNECTION: UNREACHABLE,
  ESOCKET: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  EDNS: UNREACHABLE,
  EAUTH: 'the mail server refused the login of this server',
  EMESSAGE: 'the mail server refused the message',
}

/** An error of nodemailer, with the command that the mail server has refused. */
interface SmtpError extends Error {
  code?: string
  command?: string
  responseCode?: number
  timeoutType?: string
}

/** Returns whether the mail server stopped to answer: it may have accepted the message. */
function hasStoppedAnswering({ timeoutType }: SmtpError): boolean {
  return timeoutType === 'SOCKET_TIMEOUT'
}

/** Returns whether the mail server refuses a receiver permanently (5xx), not temporarily (4xx). */
function isReceiverRefused({ code, command, responseCode = 0 }: SmtpError): boolean {
  return code === 'EENVELOPE' && command === 'RCPT TO' && responseCode >= 500
}

function describeError(error: SmtpError): string {
  if (hasStoppedAnswering(error)) return 'the mail server has not answered'
  if (error.code !== 'EENVELOPE') return SMTP_ERRORS[error.code ?? ''] ?? 'the mail server failed'
  if (isReceiverRefused(error)) return 'the mail server refused the address'
  return error.command === 'RCPT TO'
    ? 'the mail server refused the address for now'
    : 'the mail server refused the sender of this server'
}

/** Why a message was not sent. `isUnreachable`: the mail server was not asked; `isRefused`: it refused the receiver. */
export class MailError extends Error {
  constructor(
    message: string,
    readonly isUnreachable: boolean,
    readonly isRefused: boolean,
    options: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Sends e-mails over SMTP. Connects on first use. */
export class Mailer {
  private transport: Promise<Transporter> | undefined

  constructor(
    /** `smtp://user:password@host:587`, `smtps://…`. */
    private readonly smtp: string,
    /** Sender address. */
    private readonly from: string,
    private readonly timeouts = TIMEOUTS,
  ) {}

  /** Sends a message. Throws an error that says what the mail server did. */
  async send(message: Message): Promise<void> {
    try {
      await this.sendNow(message)
    } catch (error) {
      const failure = error as SmtpError
      const text = describeError(failure)
      throw new MailError(`${text}: ${failure.message}`, text === UNREACHABLE, isReceiverRefused(failure), {
        cause: error,
      })
    }
  }

  private async sendNow(message: Message): Promise<void> {
    this.transport ??= import('../../vendor/mail.ts').then(({ createTransport }) =>
      createTransport({
        url: this.smtp,
        connectionTimeout: this.timeouts.connectMs,
        greetingTimeout: this.timeouts.connectMs,
        socketTimeout: this.timeouts.answerMs,
      }),
    )
    // Pass the address as an object: in a string, a comma would separate several addresses.
    await (await this.transport).sendMail({
      ...message,
      to: { name: '', address: message.to },
      from: this.from,
    })
  }

  async close(): Promise<void> {
    ;(await this.transport?.catch(() => undefined))?.close()
  }
}
