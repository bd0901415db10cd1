/** Files of a server that accepts only TLS, and only clients with a certificate of `ca`. */
export interface ServerTls {
  ca: string;
  certificate: string;
  key: string;
}
