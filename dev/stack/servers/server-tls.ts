/** Files of a server that speaks TLS alone, and whose clients have to show a certificate of `ca`. */
export interface ServerTls {
  ca: string;
  certificate: string;
  key: string;
}
